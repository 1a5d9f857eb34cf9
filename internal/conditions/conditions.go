// Package conditions sets the conditions of an object, and writes its status: only where it has changed, and only over the version
// that was read.
package conditions

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Set puts a condition into the list and says whether the list changed. The time of the last transition moves only with the
// status. A message holds no time and no ID: the same situation always has the same message, so that it is written once.
func Set(list *[]metav1.Condition, typ string, status metav1.ConditionStatus, reason, message string, generation int64) bool {
	return meta.SetStatusCondition(list, metav1.Condition{Type: typ, Status: status, Reason: reason, Message: message,
		ObservedGeneration: generation})
}

// Find returns a copy of the condition of that type; the zero value, whose Status is "", where there is none.
func Find(list []metav1.Condition, typ string) metav1.Condition {
	if i := slices.IndexFunc(list, func(c metav1.Condition) bool { return c.Type == typ }); i >= 0 {
		return list[i]
	}
	return metav1.Condition{}
}

// IsTrue says whether the condition of that type is True.
func IsTrue(list []metav1.Condition, typ string) bool {
	return Find(list, typ).Status == metav1.ConditionTrue
}
