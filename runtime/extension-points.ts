/** Extension points of the runtime: what sections provide to it. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Context, SystemContext } from './context.ts'
import { byKey, extensionPoints, inOrder, single } from './extensions.ts'
import type { Entitlement } from './gateway/access.ts'
import type { Surface } from './gateway/surface.ts'
import type { ConnectionFailure, ProviderOutcome } from './ports/instrumentation.ts'
import type { PortName, SectionPorts } from './ports/ports.ts'
import type { PortSpec } from './ports/spec.ts'
import type { ReferenceLookup } from './references.ts'
import type { z } from './schema.ts'
import type { Counter, Gauge } from './server/instruments.ts'

/** A text for developers who build on the API, beyond its operations: served at `/docs/guides/<key>`. */
interface Guide {
  title: string
  /** One sentence about its readers. */
  summary: string
  /** Markdown. */
  file: URL
}

const declared = extensionPoints({
  /** Counters of sections, in addition to the server's own at `/metrics`; incremented by `services.count`. */
  counters: inOrder<Counter>(),
  /** Gauges of sections, in addition to the server's own at `/metrics`. */
  gauges: inOrder<Gauge>(),
  /** The subject of the operations: the first words of the OpenAPI document. */
  about: single<string>(),
  /** Guides by the last part of their address. */
  guides: byKey<Guide>((guide, { key }) =>
    !/^[a-z][a-z-]*$/.test(key)
      ? { wrong: `its guide ${key} would have an odd address`, remedy: 'name it in small letters' }
      : existsSync(fileURLToPath(guide.file))
        ? null
        : { wrong: `its guide ${key} is not there`, remedy: 'name a file beside extensions.ts' },
  ),
  /**
   * The path of the protected resource metadata of `/mcp` (RFC 9728). A refused client gets it, so that an assistant
   * finds out how to obtain a key.
   */
  resourceMetadata: single<{ path: string }>(({ path }) =>
    path.startsWith('/.well-known/')
      ? null
      : { wrong: `names ${path}, where nobody looks`, remedy: 'name a path below /.well-known/' },
  ),
  /** The entitlement of a store: the features it has paid for. */
  entitlement: single<Entitlement>(),
  /** Other surfaces of all operations besides `/v1`, by their path. */
  surfaces: byKey<Surface>((_surface, { key }) =>
    /^\/[a-z]+$/.test(key) && key !== '/v1'
      ? null
      : { wrong: 'is no path of its own', remedy: 'write it as /name, in small letters' },
  ),
  /** Upstream systems other than mail and storage, by the port's name: their adapters are in `ctx.adapters`. */
  ports: byKey<PortSpec, keyof SectionPorts>((_port, { key }) =>
    ['mail', 'storage', 'files', 'close'].includes(key)
      ? { wrong: 'is of the runtime', remedy: 'give the port another name' }
      : null,
  ),
  /** Lookups of things that fields name, by their kind. */
  references: byKey<ReferenceLookup>(),
  /** Called in the transaction that writes a resource, with its content before and after: keeps what it references. */
  referencesChanged:
    inOrder<
      (
        tx: Context,
        owner: string,
        schema: z.ZodTypeAny,
        said: { before: unknown; after: unknown },
      ) => Promise<void>
    >(),
  /** Called when the outcome of provider calls changes; returns the state of the connection since then. */
  providerOutcome:
    single<(system: SystemContext, outcome: ProviderOutcome) => Promise<ConnectionFailure | null>>(),
  /** The server's own providers with a failure, as any process saw it. */
  failingProviders: single<(system: SystemContext) => Promise<{ port: PortName; provider: string }[]>>(),
  /** Called after the final failure of a store's job. */
  jobFailed: inOrder<(ctx: Context, jobName: string, jobId: string, reason: string) => Promise<void>>(),
})
export default declared

declare module './extensions.ts' {
  interface ExtensionPoints extends DeclaredByRuntime {}
}
type DeclaredByRuntime = typeof declared.declared
