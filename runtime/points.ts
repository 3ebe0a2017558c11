/** What sections give to the runtime. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Context, SystemContext } from './context.ts'
import type { Outcome, PortName, Trouble } from './ports/heard.ts'
import type { Look } from './references.ts'
import type { z } from './schema.ts'
import { byKey, inOrder, points, single } from './wiring.ts'

/** A text for who builds on the API beyond its operations: read at `/docs/guides/<key>`. */
interface Guide {
  title: string
  /** For whom, in one sentence. */
  summary: string
  /** Markdown. */
  file: URL
}

/** A number for Prometheus that a section knows. Its labels are few and known: none is of a store. */
export interface Gauge {
  name: string
  help: string
  labels: readonly string[]
  /** Asked at each look, by one cheap statement. */
  values(system: SystemContext): Promise<{ labels: Record<string, string>; value: number }[]>
}

/** Of what happens, by labels whose values are few. */
export interface Counter {
  name: string
  help: string
  labels: readonly string[]
}

const declared = points({
  /** What `services.count` adds to, beside the server's own at `/metrics`. */
  counters: inOrder<Counter>(),
  /** Beside the server's own at `/metrics`. */
  gauges: inOrder<Gauge>(),
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
