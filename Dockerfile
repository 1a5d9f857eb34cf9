# The image of all that runs in a cluster: /namegate, and /coredns with the plugin that serves Zones. Static binaries, no
# shell, not root. For several platforms: make image PLATFORMS=linux/amd64,linux/arm64
#
# Both base images can be replaced, by a mirror's for example. The build itself is test/scripts/build.sh, which runs
# without a container engine as well.
ARG BUILDER_IMAGE=golang:1.26
ARG RUNTIME_IMAGE=gcr.io/distroless/static:nonroot

# The builder runs on the platform that builds and cross-compiles: Go needs no emulator.
FROM --platform=${BUILDPLATFORM} ${BUILDER_IMAGE} AS build
WORKDIR /src
# Modules first: this layer stays while go.mod does.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
RUN GOOS=${TARGETOS} GOARCH=${TARGETARCH} VERSION=${VERSION} test/scripts/build.sh /out namegate coredns

FROM ${RUNTIME_IMAGE}
COPY --from=build /out/namegate /out/coredns /
# By number, so that the kubelet can see that it is not root.
USER 65532:65532
ENTRYPOINT ["/namegate"]
