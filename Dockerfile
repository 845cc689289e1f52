# syntax=docker/dockerfile:1@sha256:ecfaec9ed6d810b56388c508f4121597bfbba70d41a6dfeee4d8cad5f295fc32
# The digest decides which image is used; the tag beside it names the version for readers and update tools.
FROM node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1 AS build
WORKDIR /opt/portico
COPY package.json package-lock.json .npmrc ./
# The only install scripts fetch a Node, which the base image has, and check a parser that the build does not use.
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json rolldown.config.mjs ./
COPY src ./src
RUN npm run build

FROM node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1
LABEL org.opencontainers.image.title="Portico" \
      org.opencontainers.image.description="One MCP entry point in front of a security platform: projects, installed workflows and installed tools, read-only." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="docker.io/library/node:26.10.0-slim" \
      io.modelcontextprotocol.server.name="example.portico/portico"
ENV NODE_ENV=production
WORKDIR /opt/portico
COPY package.json package-lock.json .npmrc LICENSE ./
# Without the dev dependencies, node among them: the base image is the Node that runs.
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY config ./config
# The status page links to it.
COPY docs/runbook.md ./docs/
COPY --from=build /opt/portico/dist ./dist

# What Node compiles at a start is compiled here, once, by the user who runs it: of another one, or of another Node, it
# would not be taken. A start takes a quarter less. It is root's in the end: who could write there could put in any code.
RUN mkdir --mode=777 compiling
USER 1000:1000
RUN started=$(mktemp); NODE_COMPILE_CACHE=compiling PORT=0 ADMIN_PORT=0 node --single-threaded-gc --max-semi-space-size=16 dist/main.js --demo >"$started" & portico=$!; \
    until grep -q '^Portico is at' "$started"; do kill -0 $portico && sleep 0.1 || exit 1; done; \
    kill $portico && wait $portico && rm "$started"
USER root
RUN cp -r compiling compiled && rm -r compiling
ENV NODE_COMPILE_CACHE=/opt/portico/compiled

# By number, so that an orchestrator can see that it is not root. Portico writes no file: the root can be read-only.
USER 1000:1000
EXPOSE 8080
STOPSIGNAL SIGTERM
# The admin listener is on the container's own loopback. Where settings give it another port, say so in ADMIN_PORT.
ENV ADMIN_PORT=9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.ADMIN_PORT + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Helper threads of the garbage collector keep the event loop waiting (docs/deployment.md).
ENTRYPOINT ["node", "--single-threaded-gc", "--max-semi-space-size=16", "dist/main.js"]
CMD ["serve", "--config", "/etc/portico/portico.yaml"]
