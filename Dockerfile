# The server as an image: `docker build -t merchant-api .`. Settings: docs/deploying.md.
FROM node:24.21.0-bookworm-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund
# The software bill of materials: each package with its version, licence and checksum. `--omit=dev` would leave out what
# development needs too.
RUN npm pkg delete devDependencies && npm sbom --sbom-format=cyclonedx >sbom.json

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
COPY --from=modules /app/node_modules ./node_modules
COPY --from=modules /app/sbom.json ./
COPY package.json LICENSE ./
COPY runtime ./runtime
COPY db ./db
COPY operations ./operations
COPY scripts ./scripts
# What a start compiles is kept beside the modules, as files are in /data; it belongs to the user who compiled it.
RUN mkdir -p /data node_modules/.cache && chown node:node /data node_modules/.cache
USER node
RUN ["node", "--import=./scripts/cli/compiled.js", "--no-allocation-site-pretenuring", "scripts/cli/compile.ts"]
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# As `npm start`, without npm between: signals reach the server.
CMD ["node", "--import=./scripts/cli/compiled.js", "--max-semi-space-size=16", "--max-old-space-size=2000", "--no-allocation-site-pretenuring", "scripts/start.ts"]
