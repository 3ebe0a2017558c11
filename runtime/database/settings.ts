/**
 * Settings of a store: one row, merged over defaults (runtime, rules 7 and 8). A section declares its settings as data;
 * this file implements reading, merging, validating, storing and answering them for all sections.
 */
import { type Kysely, sql } from 'kysely'
import type { Row, RowChange, TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { requireReferences } from '#runtime/references'
import type { z } from '#runtime/schema'
import { type Change, mergeChange, toCanonicalJson } from '#runtime/values/changes'
import { translateBuiltIn, type Words } from '#runtime/values/wording'
import { prepared } from './query.ts'

// biome-ignore lint/complexity/noBannedTypes: the default of a type parameter: no additional fields
export type Nothing = {}

export interface SettingsSpec<
  Content extends object,
  Table extends keyof TenantTables,
  Input extends object = Change<Content>,
  Column extends keyof Row<Table> = never,
  More extends object = Nothing,
> {
  /** The name, unique among all settings. Files that these settings reference are recorded under it. */
  name: string
  table: Table
  /** The key of the row, in addition to the store. */
  key?: RowChange<Table>
  /** The names of the columns, if they are not `content` and `updated_at`. */
  columns?: { content?: string; updatedAt?: string }
  /** Set to false if the table has no `created_at`. */
  isDated?: false
  /** Further columns to read. */
  extraColumns?: readonly Column[]
  defaults: Content
  /** The default texts for shoppers (rule 35). */
  words?: Words<Content>
  /**
   * The schema of the answer. Files that its `reference` fields name, or that texts link to, are kept from deletion.
   */
  schema: z.ZodTypeAny
  /** The value that is stored instead of an empty text; by default the empty text itself. */
  emptyIs?: null
  /** Merges a change into the current settings; the default merges at every depth. Refuses an invalid change. */
  merge?: (ctx: Context, before: Content, change: Input) => Content
  /** Refuses invalid settings after the merge. Must only read: it may run several times before they are stored. */
  check?: (ctx: Context, after: Content, before: Content) => Promise<void> | void
  /**
   * References of these kinds that a save adds must exist. Checked outside a transaction, since it may call providers.
   */
  references?: { kinds: readonly string[]; live?: boolean }
  /** Further calls to providers before a save, outside a transaction. */
  prepare?: (ctx: Context, after: Content, before: Content) => Promise<void>
  /** Columns derived from the settings. `row`: the values of `extraColumns` before the save. */
  derivedColumns?: (after: Content, row: Pick<Row<Table>, Column> | null, now: Date) => RowChange<Table>
  /** Called after a change, in its transaction. */
  onSaved?: (tx: Context, after: Content, before: Content) => Promise<void>
  /** Called in a transaction after a save that changed nothing. */
  onUnchanged?: (tx: Context, content: Content) => Promise<void>
  /** Additional or replaced fields of the answer. */
  answerFields?: (ctx: Context, content: Content) => More | Promise<More>
}

interface LoadedSettings<Content, Kept> {
  content: Content
  /** Null until the first save. */
  updatedAt: Date | null
  row: Kept | null
}

export interface Settings<Content extends object, Input, Kept, More> {
  readonly kind: 'settings'
  readonly name: string
  readonly defaults: Content
  readonly words: Words<Content> | undefined
  /** The effective settings: the defaults until the first save. */
  getEffective(ctx: Context): Promise<Content>
  /** The same for shoppers: unchanged default texts are in the store's language. */
  getForShoppers(ctx: Context): Promise<Content>
  find(ctx: Context): Promise<LoadedSettings<Content, Kept>>
  /** The settings as they are answered. */
  read(ctx: Context): Promise<Omit<Content, keyof More> & More & { updatedAt: string | null }>
  /**
   * Merges a change and returns the result. Repeating a save changes nothing. Settings with `references` or `prepare`
   * cannot be saved inside a transaction, since these may call providers; the calls are repeated if another save was
   * committed meanwhile.
   */
  save(ctx: Context, change: Input): ReturnType<this['read']>
  /** Changes the settings in the caller's transaction, without any calls: for changes by the server itself. */
  write(tx: Context, next: (before: Content) => Content): Promise<void>
}

interface SettingsRow {
  content: object | null
  updated_at: Date | null
}
/** Tables with any columns: `SettingsSpec` has already checked the names in its types. */
type AnyTables = Kysely<Record<string, Record<string, unknown>>>

export function settings<
  Content extends object,
  Table extends keyof TenantTables,
  Input extends object = Change<Content>,
  Column extends keyof Row<Table> = never,
  More extends object = Nothing,
>(
  spec: SettingsSpec<Content, Table, Input, Column, More>,
): Settings<Content, Input, Pick<Row<Table>, Column>, More> {
  type Kept = Pick<Row<Table>, Column>
  const { key = {}, extraColumns = [], defaults, words, emptyIs = '', references, prepare } = spec
  const table: string = spec.table
  const { content: contentColumn = 'content', updatedAt: timeColumn = 'updated_at' } = spec.columns ?? {}
  const keys = Object.entries(key)

  const rows = prepared<object, SettingsRow & Kept>(
    (db) =>
      keys.reduce(
        (query, [column, value]) => query.where(column, '=', sql.lit(value)),
        (db as unknown as AnyTables)
          .selectFrom(table)
          .select([
            `${contentColumn} as content`,
            `${timeColumn} as updated_at`,
            ...extraColumns.map(String),
          ]),
      ) as never,
    { plan: 'once' },
  )
  async function find(ctx: Context): Promise<LoadedSettings<Content, Kept> & { kept: object | null }> {
    const [row = null] = await rows(ctx, {})
    const kept = row?.content ?? null
    const content = kept ? mergeChange(defaults, kept as Change<Content>, emptyIs) : defaults
    return { content, updatedAt: row?.updated_at ?? null, row, kept }
  }
  const getEffective = async (ctx: Context): Promise<Content> => (await find(ctx)).content
  const getForShoppers = async (ctx: Context): Promise<Content> =>
    words ? translateBuiltIn(await getEffective(ctx), words, ctx.store.locale) : getEffective(ctx)
  const read = async (ctx: Context) => {
    const { content, updatedAt } = await find(ctx)
    const more = (await spec.answerFields?.(ctx, content)) as More
    return { ...content, ...more, updatedAt: updatedAt?.toISOString() ?? null }
  }

  /** Stores the settings; false if a writer without the store's lock changed them after `found` was read. */
  async function upsert(
    tx: Context,
    found: Awaited<ReturnType<typeof find>>,
    after: Content,
  ): Promise<boolean> {
    const now = tx.now()
    const row = {
      [contentColumn]: JSON.stringify(after),
      [timeColumn]: now,
      ...spec.derivedColumns?.(after, found.row, now),
    }
    const kept = found.kept && JSON.stringify(found.kept)
    const written = await (tx.db as unknown as AnyTables)
      .insertInto(table)
      .values({ ...key, ...(spec.isDated === false ? {} : { created_at: now }), ...row })
      .onConflict((conflict) =>
        conflict
          .columns(['store_id', ...keys.map(([column]) => column)])
          .doUpdateSet(row)
          .where(sql<boolean>`${sql.ref(`${table}.${contentColumn}`)} is not distinct from ${kept}::jsonb`),
      )
      .returning(timeColumn)
      .executeTakeFirst()
    return written !== undefined
  }

  /** Stores the result of `next`; false if it changes nothing. Concurrent changes are serialized. */
  async function applyChange(tx: Context, next: (before: Content) => Content): Promise<boolean> {
    await tx.lockStore()
    for (;;) {
      const found = await find(tx)
      const before = found.content
      const after = next(before)
      await spec.check?.(tx, after, before)
      if (isSame(before, after)) return false
      if (!(await upsert(tx, found, after))) continue
      for (const keep of tx.extensions.referencesChanged)
        await keep(tx, spec.name, spec.schema, { before, after })
      await spec.onSaved?.(tx, after, before)
      return true
    }
  }

  const saveInTransaction = (ctx: Context, next: (tx: Context, before: Content) => Content) =>
    ctx.transaction(async (tx) => {
      if (!(await applyChange(tx, (before) => next(tx, before))))
        await spec.onUnchanged?.(tx, await getEffective(tx))
      return read(tx)
    })

  async function save(ctx: Context, change: Input) {
    const whole = (within: Context, before: Content): Content =>
      spec.merge?.(within, before, change) ?? mergeChange(before, change as never, emptyIs)
    if (!references && !prepare) return saveInTransaction(ctx, whole)
    for (;;) {
      const before = await getEffective(ctx)
      const after = whole(ctx, before)
      await spec.check?.(ctx, after, before)
      if (references) await requireReferences(ctx, spec.schema, { before, after, ...references })
      await prepare?.(ctx, after, before)
      try {
        return await saveInTransaction(ctx, (_tx, now) => {
          if (!isSame(now, before)) throw new ConcurrentChange()
          return after
        })
      } catch (error) {
        if (!(error instanceof ConcurrentChange)) throw error
      }
    }
  }

  const write = async (tx: Context, next: (before: Content) => Content): Promise<void> => {
    await applyChange(tx, next)
  }
  return {
    kind: 'settings',
    name: spec.name,
    defaults,
    words,
    getEffective: getEffective,
    getForShoppers: getForShoppers,
    find,
    read,
    save,
    write,
  }
}

/** Thrown if another save was committed during the calls to providers: rolls back, and the calls are repeated. */
class ConcurrentChange extends Error {}

const isSame = (one: unknown, other: unknown): boolean => toCanonicalJson(one) === toCanonicalJson(other)
