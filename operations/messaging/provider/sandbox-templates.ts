/**
 * Templates at the sandbox's provider. A template is reviewed five seconds after its submission, and its name decides
 * the result: it contains `reject`, `hold`, `pause`, or `promo` (in a utility template).
 */

import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import type { Row } from '#db/tables'
import type { Clock } from '#runtime/clock'
import { hourMs } from '#runtime/durations'
import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { newId } from '#runtime/values/ids'
import { buildAccountHook, type SignedHook, toTimestamp } from './hook-body.ts'
import {
  buildCategoryChange,
  buildQualityChange,
  buildStatusChange,
  type TemplateChange,
} from './template-hooks.ts'
import type { ProviderTemplate, TemplateContent, TemplatePort, TemplateStatus } from './template-port.ts'

type TemplateRow = Row<'sandbox_templates'>

const reviewMs = 5_000
const pauseMs = 3 * hourMs
const pageSize = 50
const eventsAtOnce = 100

/** The review result of a template, by name and category. */
function decideReview(name: string, category: string): string | null {
  if (name.includes('hold')) return null
  if (name.includes('reject')) return 'invalid-format'
  if (category === 'utility' && name.includes('promo')) return 'incorrect-category'
  return 'approved'
}

export class SandboxTemplates implements TemplatePort {
  readonly #db: RootDatabase
  readonly #clock: Clock
  readonly #secret: string

  constructor(options: { db: RootDatabase; clock: Clock; appSecret: string }) {
    this.#db = options.db
    this.#clock = options.clock
    this.#secret = options.appSecret
  }

  createTemplate: TemplatePort['createTemplate'] = async (store, template) => {
    await this.#answers(store)
    const { name, language } = template
    const providerId = newId(this.#clock.ms())
    const row = await this.#db
      .insertInto('sandbox_templates')
      .values({
        store_id: store.id,
        provider_id: providerId,
        name,
        language,
        content: JSON.stringify(toContent(template)),
        status: 'pending',
        ...this.#reviewOf(template),
      })
      .onConflict((conflict) => conflict.columns(['store_id', 'name', 'language']).doNothing())
      .returning('provider_id')
      .executeTakeFirst()
    await this.#mayLoseAnswer(store)
    if (!row) throw new Refused('template-exists', 'There is a template of this name and language already')
    return { providerId, status: 'pending' }
  }

  editTemplate: TemplatePort['editTemplate'] = async (store, providerId, template) => {
    await this.#answers(store)
    const edited = await this.#db
      .updateTable('sandbox_templates')
      .set({
        content: JSON.stringify(toContent(template)),
        status: 'pending',
        reason: null,
        paused_until: null,
        version: sql<number>`version + 1`,
        ...this.#reviewOf(template),
      })
      .where('store_id', '=', store.id)
      .where('provider_id', '=', providerId)
      .returning('provider_id')
      .executeTakeFirst()
    await this.#mayLoseAnswer(store)
    if (!edited) throw new Refused('template-unknown', 'The provider has no such template any more')
    return { status: 'pending' }
  }

  deleteTemplate: TemplatePort['deleteTemplate'] = async (store, { providerId }) => {
    await this.#answers(store)
    await this.#db
      .deleteFrom('sandbox_templates')
      .where('store_id', '=', store.id)
      .where('provider_id', '=', providerId)
      .execute()
    await this.#mayLoseAnswer(store)
  }

  listTemplates: TemplatePort['listTemplates'] = async (store, cursor = '') => {
    await this.#answers(store)
    const rows = await this.#db
      .selectFrom('sandbox_templates')
      .selectAll()
      .where('store_id', '=', store.id)
      .where('provider_id', '>', cursor)
      .orderBy('provider_id')
      .limit(pageSize)
      .execute()
    await this.#mayLoseAnswer(store)
    return {
      templates: rows.map(toProviderTemplate),
      next: rows.length === pageSize ? rows.at(-1)!.provider_id : null,
    }
  }

  /** Simulates a decision of the provider; null if it has no such template. The status `gone` deletes the template. */
  async review(
    storeId: string,
    providerId: string,
    change: { status?: TemplateStatus | 'gone'; reason?: string; category?: string; quality?: string },
  ): Promise<SignedHook | null> {
    const row = await this.#db
      .selectFrom('sandbox_templates')
      .selectAll()
      .where('store_id', '=', storeId)
      .where('provider_id', '=', providerId)
      .executeTakeFirst()
    if (!row) return null
    const { status, reason, category, quality } = change
    const now = this.#clock.now()
    const subject = toSubject(row)
    const changes: TemplateChange[] = []
    if (category) changes.push(buildCategoryChange(subject, category))
    if (quality) changes.push(buildQualityChange(subject, quality))
    const pausedUntil = status === 'paused' ? new Date(now.getTime() + pauseMs) : null
    if (status) {
      const why = status === 'rejected' ? (reason ?? 'other') : null
      changes.push(buildStatusChange(subject, providerWords[status], { reason: why, pausedUntil }))
    }
    if (status === 'gone') await this.#forget(row)
    else await this.#decide(row, { ...change, status: status ?? (row.status as TemplateStatus), pausedUntil })
    return this.#signed(storeId, now, changes)
  }

  /**
   * Yields due events as signed bodies. A template advances only when the next body is requested, so after a crash the
   * same body is sent again, under the same key.
   */
  async *dueEvents(): AsyncGenerator<SignedHook, void, void> {
    const now = this.#clock.now()
    for (;;) {
      const due = await this.#db
        .selectFrom('sandbox_templates')
        .selectAll()
        .where('next_event_at', '<=', now)
        .orderBy('next_event_at')
        .limit(eventsAtOnce)
        .execute()
      if (due.length === 0) return
      for (const row of due) {
        const at = row.next_event_at!
        const event = row.next_event!
        const isPause = event === 'pause'
        const pausedUntil = isPause ? new Date(at.getTime() + pauseMs) : null
        const status = isPause ? 'paused' : event === 'approved' ? 'approved' : 'rejected'
        const reason = status === 'rejected' ? event : null
        const change = buildStatusChange(toSubject(row), providerWords[status], { reason, pausedUntil })
        yield this.#signed(row.store_id, at, [change])
        await this.#moveOn(row, { status, reason, pausedUntil })
      }
    }
  }

  async #moveOn(
    row: TemplateRow,
    {
      status,
      reason,
      pausedUntil,
    }: { status: TemplateStatus; reason: string | null; pausedUntil: Date | null },
  ): Promise<void> {
    const isPausedNext = status === 'approved' && row.name.includes('pause')
    await this.#db
      .updateTable('sandbox_templates')
      .set({
        status,
        reason,
        paused_until: pausedUntil,
        next_event: isPausedNext ? 'pause' : null,
        next_event_at: isPausedNext ? new Date(row.next_event_at!.getTime() + reviewMs) : null,
      })
      .where('provider_id', '=', row.provider_id)
      .where('version', '=', row.version)
      .execute()
  }

  async #decide(
    row: TemplateRow,
    change: {
      status: TemplateStatus
      reason?: string
      category?: string
      quality?: string
      pausedUntil: Date | null
    },
  ): Promise<void> {
    const { status, category, quality, reason, pausedUntil } = change
    const content = row.content as TemplateContent
    await this.#db
      .updateTable('sandbox_templates')
      .set({
        status,
        reason: status === 'rejected' ? (reason ?? 'other') : null,
        paused_until: pausedUntil,
        next_event: null,
        next_event_at: null,
        ...(quality ? { quality } : {}),
        ...(category ? { content: JSON.stringify({ ...content, category }) } : {}),
      })
      .where('provider_id', '=', row.provider_id)
      .execute()
  }

  async #forget(row: TemplateRow): Promise<void> {
    await this.#db.deleteFrom('sandbox_templates').where('provider_id', '=', row.provider_id).execute()
  }

  #signed(storeId: string, at: Date, changes: readonly TemplateChange[]): SignedHook {
    return buildAccountHook(this.#secret, `sandbox-account-${storeId}`, toTimestamp(at), changes)
  }

  #reviewOf({ name, category }: TemplateContent) {
    const verdict = decideReview(name, category)
    return {
      next_event: verdict,
      next_event_at: verdict === null ? null : new Date(this.#clock.ms() + reviewMs),
    }
  }

  async #mode(store: ProviderStore): Promise<string> {
    const row = await this.#db
      .selectFrom('sandbox_modes')
      .select('mode')
      .where('store_id', '=', store.id)
      .where('port', '=', 'messaging')
      .executeTakeFirst()
    return row?.mode ?? 'up'
  }

  async #answers(store: ProviderStore): Promise<void> {
    const mode = await this.#mode(store)
    if (mode === 'down' || mode === 'throttle') {
      throw new Unavailable('no', `The sandbox is set to ${mode}`)
    }
  }

  async #mayLoseAnswer(store: ProviderStore): Promise<void> {
    if ((await this.#mode(store)) === 'timeout') {
      throw new Unavailable('unknown', 'The sandbox is set to lose its answers')
    }
  }
}

const providerWords: Record<TemplateStatus | 'gone', string> = {
  pending: 'PENDING',
  approved: 'APPROVED',
  rejected: 'REJECTED',
  paused: 'PAUSED',
  disabled: 'DISABLED',
  gone: 'DELETED',
}

const toSubject = (row: TemplateRow) => ({
  providerId: row.provider_id,
  name: row.name,
  language: row.language,
})

function toContent(template: TemplateContent): Omit<TemplateContent, 'name' | 'language'> {
  const { category, header, body, footer, buttons, examples } = template
  return { category, header, body, footer, buttons, examples }
}

function toProviderTemplate(row: TemplateRow): ProviderTemplate {
  return {
    ...(row.content as Omit<TemplateContent, 'name' | 'language'>),
    providerId: row.provider_id,
    name: row.name,
    language: row.language,
    status: row.status as TemplateStatus,
    rejectionReason: row.reason,
    quality: row.quality as ProviderTemplate['quality'],
    pausedUntil: row.paused_until?.toISOString() ?? null,
  }
}
