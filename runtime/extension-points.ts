/** The runtime's extension points: what sections can register for the runtime to use. */

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

/** A guide for developers, beyond the description of operations; served at `/docs/guides/<key>`. */
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
  /** A sentence or two about the operations: the beginning of the OpenAPI document's description. */
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
   * The path of the protected resource metadata of `/mcp` (RFC 9728). A refusal contains this path, so that an
   * assistant finds out how to obtain a key.
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
  /** Ports to upstream systems other than mail and storage, by name. Their adapters are in `ctx.adapters`. */
  ports: byKey<PortSpec, keyof SectionPorts>((_port, { key }) =>
    ['mail', 'storage', 'files', 'close'].includes(key)
      ? { wrong: 'is of the runtime', remedy: 'give the port another name' }
      : null,
  ),
  /** Functions that look up the things that `reference` fields name, by the kind of thing. */
  references: byKey<ReferenceLookup>(),
  /** Called in the transaction that writes a resource, to record which files it references before and after. */
  referencesChanged:
    inOrder<
      (
        tx: Context,
        owner: string,
        schema: z.ZodTypeAny,
        said: { before: unknown; after: unknown },
      ) => Promise<void>
    >(),
  /** Called when provider calls begin to fail or to succeed; returns the connection's failure, or null. */
  providerOutcome:
    single<(system: SystemContext, outcome: ProviderOutcome) => Promise<ConnectionFailure | null>>(),
  /** Lists the server's own providers that are failing, as recorded by any process. */
  failingProviders: single<(system: SystemContext) => Promise<{ port: PortName; provider: string }[]>>(),
  /** Called after the final failure of a store's job. */
  jobFailed: inOrder<(ctx: Context, jobName: string, jobId: string, reason: string) => Promise<void>>(),
})
export default declared

declare module './extensions.ts' {
  interface ExtensionPoints extends DeclaredByRuntime {}
}
type DeclaredByRuntime = typeof declared.declared
