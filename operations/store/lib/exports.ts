/** Exports of every page (Rules 15): registered by their section, run by a job each, emailed as CSV. */
import type { Context } from '#runtime/context'
import type { Job } from '#runtime/job'
import type { z } from '#runtime/schema'

export type Cell = string | number | boolean | Date | null

export interface ExportSource {
  /** Subject of the email and title of the notice, such as `Opt-outs`. */
  title: string
  /** Header of the CSV; asked once at the beginning. */
  columns(ctx: Context, query: Record<string, unknown>): Promise<string[]> | string[]
  /** Rows in batches, read by key: never all at once. */
  rows(ctx: Context, query: Record<string, unknown>): AsyncIterable<Cell[][]>
}

const sources = new Map<string, ExportSource>()
/** Called once at start, from a section's wiring. `name` is the name of its job. */
export const register = (name: string, source: ExportSource): void => {
  sources.set(name, source)
}
export const sourceOf = (name: string): ExportSource => {
  const source = sources.get(name)
  if (!source) throw new Error(`No export is registered as ${name}`)
  return source
}

/** Queues the export for the caller, in their transaction; the same one while it waits or runs is answered again. */
export async function start<P extends z.ZodTypeAny>(
  _ctx: Context,
  _job: Job<P>,
  _query: Record<string, unknown>,
): Promise<{ jobId: string; status: 'queued'; email: string }> {
  throw new Error('being written')
}

/** What an export's job does: `export default job({ ...exportJob(...) })` is built on it. Streams the CSV to storage, mails it, notifies. */
export async function run(_ctx: Context, _name: string, _exportId: string, _isLast: boolean): Promise<void> {
  throw new Error('being written')
}
