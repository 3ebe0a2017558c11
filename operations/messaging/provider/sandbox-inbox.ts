/** The sandbox provider's inbox: files, read receipts, and the history of messages and events. */
import { Readable } from 'node:stream'
import type { RootDatabase } from '#db/database'
import type { Clock } from '#runtime/clock'
import { Refused } from '#runtime/ports/errors'
import type { ProviderEvent } from '#runtime/ports/provider'
import { buildHook, parseHookBody } from './hook-body.ts'
import type { NumberPort } from './number-port.ts'
import { type DueRow, getSteps, toNumberChanges } from './sandbox-changes.ts'
import { sandboxFile } from './sandbox-media.ts'
import { withMode } from './sandbox-mode.ts'

const pageSize = 200

export class SandboxInbox implements Pick<NumberPort, 'markRead' | 'fetchMedia' | 'history'> {
  readonly #db: RootDatabase
  readonly #secret: string

  constructor(options: { db: RootDatabase; clock: Clock; appSecret: string }) {
    this.#db = options.db
    this.#secret = options.appSecret
  }

  markRead: NumberPort['markRead'] = (store) => withMode(this.#db, store, async () => {})

  /** Media ids are `sandbox-<kind>-<anything>`. */
  fetchMedia: NumberPort['fetchMedia'] = (store, { mediaId }) =>
    withMode(this.#db, store, async () => {
      const file = sandboxFile(/^sandbox-([a-z]+)/.exec(mediaId)?.[1] ?? '')
      if (!file) throw new Refused('media-gone', 'There is no such file at the provider (any more)')
      const { bytes, contentType, fileName } = file
      return { stream: Readable.from([bytes]), contentType, size: bytes.byteLength, fileName }
    })

  /** Stores inbound messages, whether or not their callback arrives. */
  async store(storeId: string, events: readonly ProviderEvent[]): Promise<void> {
    const rows = events
      .filter((event) => event.kind === 'inbound' || event.kind === 'echo')
      .map((event) => ({
        store_id: storeId,
        id: event.key,
        number_id: event.storeRef ?? '',
        content: JSON.stringify(event),
        at: event.occurredAt,
      }))
    if (rows.length === 0) return
    await this.#db
      .insertInto('sandbox_inbounds')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }

  /** Cursor: `in:<id>` for inbound messages, then `out:<id>`. */
  history: NumberPort['history'] = (store, { since, cursor = 'in:' }) =>
    withMode(this.#db, store, async () => {
      const [, walk, after] = /^(in|out):(.*)$/s.exec(cursor) ?? []
      const page =
        walk === 'out'
          ? await this.#listEvents(store.id, since, after ?? '')
          : await this.#written(store.id, since, after ?? '')
      return { supported: true, ...page }
    })

  async #written(storeId: string, since: Date, after: string) {
    const rows = await this.#db
      .selectFrom('sandbox_inbounds')
      .select(['id', 'content'])
      .where('store_id', '=', storeId)
      .where('at', '>=', since)
      .where('id', '>', after)
      .orderBy('id')
      .limit(pageSize)
      .execute()
    return {
      events: rows.map((row) => row.content as ProviderEvent),
      next: rows.length === pageSize ? `in:${rows.at(-1)!.id}` : 'out:',
    }
  }

  async #listEvents(storeId: string, since: Date, after: string) {
    const rows = await this.#db
      .selectFrom('sandbox_messages')
      .select([
        'id',
        'store_id',
        'idempotency_key',
        'provider_message_id',
        'phone',
        'content',
        'stage',
        'sent_at',
      ])
      .where('store_id', '=', storeId)
      .where('sent_at', '>=', since)
      .where('stage', '>', 0)
      .where('id', '>', after === '' ? '00000000-0000-0000-0000-000000000000' : after)
      .orderBy('id')
      .limit(pageSize)
      .execute()
    const moved = rows.map(({ content, ...row }) => {
      const { via } = content as { via: DueRow['via'] }
      return { row: { ...row, via }, over: getSteps(row.phone).slice(0, row.stage) }
    })
    return {
      events: parseHookBody(buildHook(this.#secret, toNumberChanges(moved)).body),
      next: rows.length === pageSize ? `out:${rows.at(-1)!.id}` : null,
    }
  }
}
