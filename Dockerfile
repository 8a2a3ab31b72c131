# Souk in a container. `docker compose up` builds and runs it; see docs/how-to/run-in-a-container.md.
# With Buildah or Podman: --format docker, as an OCI image holds no HEALTHCHECK.

# Both bases can be mirrors of your own: --build-arg BUILD_IMAGE=… --build-arg RUN_IMAGE=…
# BUILD_IMAGE has Node.js 24, npm and a shell; RUN_IMAGE has Node.js 24 as /nodejs/bin/node, and no shell.
ARG BUILD_IMAGE=docker.io/library/node:24-bookworm-slim
ARG RUN_IMAGE=gcr.io/distroless/nodejs24-debian12:nonroot

# What it runs on: without scripts of others, and without what only development needs.
FROM ${BUILD_IMAGE} AS modules
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build
# `souk` as a command without a shell, and the data directory, whose owner an empty volume takes over.
RUN mkdir -p /made/bin /made/data \
  && printf '#!/nodejs/bin/node\nimport("/app/dist/node/main.js")\n' > /made/bin/souk && chmod 0755 /made/bin/souk

FROM ${RUN_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="Souk" \
  org.opencontainers.image.description="A node of a peer-to-peer marketplace for APIs" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.created="${CREATED}"
# What runs belongs to root: the node can change none of it, also where the file system is not read-only.
COPY --chown=0:0 package.json LICENSE /app/
COPY --chown=0:0 --from=modules /src/node_modules /app/node_modules
COPY --chown=0:0 --from=build /src/dist /app/dist
COPY --chown=0:0 --from=build /made/bin/souk /usr/local/bin/souk
COPY --from=build --chown=65532:65532 /made/data /data
# Ports are published under the numbers listened on: other ones would be taken for another site's. The ingress stays on loopback
# until somebody says how its keys are kept from the network: with a certificate, or a proxy in front.
ENV NODE_ENV=production \
  SOUK_HOME=/data \
  SOUK_ADMIN_HOST=0.0.0.0 \
  SOUK_ADMIN_PORT=3000 \
  SOUK_INGRESS_PORT=8402 \
  SOUK_P2P_HOST=0.0.0.0 \
  SOUK_P2P_PORT=4402
WORKDIR /app
USER 65532:65532
VOLUME /data
EXPOSE 3000 8402 4402
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["/usr/local/bin/souk", "status", "--json"]
ENTRYPOINT ["/usr/local/bin/souk"]
CMD ["up", "--no-input"]
