/** What sections give to the runtime. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Context, SystemContext } from './context.ts'
import type { Entitlement } from './gateway/access.ts'
import type { Surface } from './gateway/surface.ts'
import type { Outcome, Trouble } from './ports/heard.ts'
import type { PortName, SectionPorts } from './ports/ports.ts'
import type { PortSpec } from './ports/spec.ts'
import type { Look } from './references.ts'
import type { z } from './schema.ts'
import type { Counter, Gauge } from './server/instruments.ts'
import { byKey, inOrder, points, single } from './wiring.ts'

/** A text for who builds on the API beyond its operations: read at `/docs/guides/<key>`. */
interface Guide {
  title: string
  /** For whom, in one sentence. */
  summary: string
  /** Markdown. */
  file: URL
}

const declared = points({
  /** What `services.count` adds to, beside the server's own at `/metrics`. */
  counters: inOrder<Counter>(),
  /** Beside the server's own at `/metrics`. */
  gauges: inOrder<Gauge>(),
  /** What the operations are about: the first words of the OpenAPI document. */
  about: single<string>(),
  /** By what its address ends with. */
  guides: byKey<Guide>((guide, { key }) =>
    !/^[a-z][a-z-]*$/.test(key)
      ? { wrong: `its guide ${key} would have an odd address`, remedy: 'name it in small letters' }
      : existsSync(fileURLToPath(guide.file))
        ? null
        : { wrong: `its guide ${key} is not there`, remedy: 'name a file beside wiring.ts' },
  ),
  /**
   * The path of the page that tells who `/mcp` may be entered by (protected resource metadata, RFC 9728): named to whom
   * it turns away, so that an assistant finds the way to a key by itself.
   */
  resourceMetadata: single<{ path: string }>(({ path }) =>
    path.startsWith('/.well-known/')
      ? null
      : { wrong: `names ${path}, where nobody looks`, remedy: 'name a path below /.well-known/' },
  ),
  /** What a store has paid for. */
  entitlement: single<Entitlement>(),
  /** Other ways to all operations than `/v1`, by their path. */
  surfaces: byKey<Surface>((_surface, { key }) =>
    /^\/[a-z]+$/.test(key) && key !== '/v1'
      ? null
      : { wrong: 'is no path of its own', remedy: 'write it as /name, in small letters' },
  ),
  /** Upstream systems beside mail and storage, by the port's name: their adapters are in `ctx.adapters`. */
  ports: byKey<PortSpec, keyof SectionPorts>((_port, { key }) =>
    ['mail', 'storage', 'files', 'close'].includes(key)
      ? { wrong: 'is of the runtime', remedy: 'give the port another name' }
      : null,
  ),
  /** How things that fields name are looked for, by their kind. */
  references: byKey<Look>(),
  /** Told, in its transaction, of all that a resource says from now on: it keeps what it names. */
  keeps:
    inOrder<
      (
        tx: Context,
        owner: string,
        schema: z.ZodTypeAny,
        said: { before: unknown; after: unknown },
      ) => Promise<void>
    >(),
  /** Hears what becomes of calls of providers, where it is news; answers how the connection stands since. */
  heard: single<(system: SystemContext, outcome: Outcome) => Promise<Trouble | null>>(),
  /** The server's own providers that something is wrong with, as any process saw it. */
  troubledProviders: single<(system: SystemContext) => Promise<{ port: PortName; provider: string }[]>>(),
  /** Told of a job of a store that failed for good. */
  jobFailed: inOrder<(ctx: Context, jobName: string, jobId: string, reason: string) => Promise<void>>(),
})
export default declared

declare module './wiring.ts' {
  interface Points extends DeclaredByRuntime {}
}
type DeclaredByRuntime = typeof declared.declared
