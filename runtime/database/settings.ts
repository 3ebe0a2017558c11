/**
 * Settings of a store: one row over defaults, changed by what is given (runtime, rules 7 and 8). What they are is
 * declared as data; how they are read, laid over, checked, kept and told is written here, once.
 */
import { type Kysely, sql } from 'kysely'
import type { Row, RowChange, TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { requireReferences } from '#runtime/references'
import type { z } from '#runtime/schema'
import { type Change, canonical, merged } from '#runtime/values/changes'
import { inWords, type Words } from '#runtime/values/wording'
import { prepared } from './query.ts'

// biome-ignore lint/complexity/noBannedTypes: nothing more, unless it is said
export type Nothing = {}

export interface SettingsSpec<
  Content extends object,
  Table extends keyof TenantTables,
  Input extends object = Change<Content>,
  Column extends keyof Row<Table> = never,
  More extends object = Nothing,
> {
  /** Theirs alone, among all settings: files are kept in this name. */
  name: string
  table: Table
  /** What says which row, beside the store. */
  key?: RowChange<Table>
  /** Where the table calls them otherwise. */
  columns?: { content?: string; updatedAt?: string }
  /** Where the table does not say since when the row is there. */
  isDated?: false
  /** Columns that are read besides. */
  reads?: readonly Column[]
  defaults: Content
  /** Of the defaults, the texts that are for shoppers (rule 35). */
  words?: Words<Content>
  /** What is answered. Files that its marked fields name are kept, as what texts link to. */
  schema: z.ZodTypeAny
  /** What an empty text becomes; itself unless said. */
  emptyIs?: null
  /** The whole after a change; unless said, what is given at every depth. Refuses what cannot be read. */
  merge?: (ctx: Context, before: Content, change: Input) => Content
  /** Refuses what the whole may not be. Looks, and writes nothing: it is asked again until the whole is kept. */
  check?: (ctx: Context, after: Content, before: Content) => Promise<void> | void
  /** Things of these kinds that a save names for the first time must be there; outside a transaction. */
  names?: { kinds: readonly string[]; live?: boolean }
  /** What else a save asks of others, or has them do: outside a transaction, before anything is kept. */
  prepare?: (ctx: Context, after: Content, before: Content) => Promise<void>
  /** Columns that follow from the whole. `row`: what `reads` names, as it was. */
  also?: (after: Content, row: Pick<Row<Table>, Column> | null, now: Date) => RowChange<Table>
  /** Told of what was kept, in its transaction. */
  saved?: (tx: Context, after: Content, before: Content) => Promise<void>
  /** Told, in a transaction, of a save that changed nothing. */
  unchanged?: (tx: Context, content: Content) => Promise<void>
  /** What is answered besides, or in the place of a field. */
  shown?: (ctx: Context, content: Content) => More | Promise<More>
}

interface Found<Content, Kept> {
  content: Content
  /** Null until they were first saved. */
  updatedAt: Date | null
  row: Kept | null
}

export interface Settings<Content extends object, Input, Kept, More> {
  readonly kind: 'settings'
  readonly name: string
  readonly defaults: Content
  readonly words: Words<Content> | undefined
  /** What is in force: the defaults until they were first saved. */
  inForce(ctx: Context): Promise<Content>
  /** The same for shoppers: what is left as it is built in is said in the store's language. */
  forShoppers(ctx: Context): Promise<Content>
  find(ctx: Context): Promise<Found<Content, Kept>>
  /** As they are answered. */
  read(ctx: Context): Promise<Omit<Content, keyof More> & More & { updatedAt: string | null }>
  /**
   * Lays a change over them, and answers them. The same again changes nothing. Settings that ask others of what they
   * save (`names`, `prepare`) are not saved inside a transaction, and ask again where somebody else saved meanwhile.
   */
  save(ctx: Context, change: Input): ReturnType<this['read']>
  /** The same in the caller's transaction, with nobody asked: for what the server itself decides. */
  write(tx: Context, next: (before: Content) => Content): Promise<void>
}

interface Saved {
  content: object | null
  updated_at: Date | null
}
/** Tables are named by who declares: their types are checked there. */
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
  const { key = {}, reads = [], defaults, words, emptyIs = '', names, prepare } = spec
  const table: string = spec.table
  const { content: contentColumn = 'content', updatedAt: timeColumn = 'updated_at' } = spec.columns ?? {}
  const keys = Object.entries(key)

  const rows = prepared<object, Saved & Kept>(
    (db) =>
      keys.reduce(
        (query, [column, value]) => query.where(column, '=', sql.lit(value)),
        (db as unknown as AnyTables)
          .selectFrom(table)
          .select([`${contentColumn} as content`, `${timeColumn} as updated_at`, ...reads.map(String)]),
      ) as never,
    { plan: 'once' },
  )
  async function find(ctx: Context): Promise<Found<Content, Kept> & { kept: object | null }> {
    const [row = null] = await rows(ctx, {})
    const kept = row?.content ?? null
    const content = kept ? merged(defaults, kept as Change<Content>, emptyIs) : defaults
    return { content, updatedAt: row?.updated_at ?? null, row, kept }
  }
  const inForce = async (ctx: Context): Promise<Content> => (await find(ctx)).content
  const forShoppers = async (ctx: Context): Promise<Content> =>
    words ? inWords(await inForce(ctx), words, ctx.store.locale) : inForce(ctx)
  const read = async (ctx: Context) => {
    const { content, updatedAt } = await find(ctx)
    const more = (await spec.shown?.(ctx, content)) as More
    return { ...content, ...more, updatedAt: updatedAt?.toISOString() ?? null }
  }

  /** Answers false where somebody who holds no lock of the store wrote since `found` was read. */
  async function put(tx: Context, found: Awaited<ReturnType<typeof find>>, after: Content): Promise<boolean> {
    const now = tx.now()
    const row = {
      [contentColumn]: JSON.stringify(after),
      [timeColumn]: now,
      ...spec.also?.(after, found.row, now),
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

  /** What `next` makes of what is there; answers whether it is another than before. Two at once take turns. */
  async function lay(tx: Context, next: (before: Content) => Content): Promise<boolean> {
    await tx.lockStore()
    for (;;) {
      const found = await find(tx)
      const before = found.content
      const after = next(before)
      await spec.check?.(tx, after, before)
      if (isSame(before, after)) return false
      if (!(await put(tx, found, after))) continue
      for (const keep of tx.wired.keeps) await keep(tx, spec.name, spec.schema, { before, after })
      await spec.saved?.(tx, after, before)
      return true
    }
  }

  const saveIn = (ctx: Context, next: (tx: Context, before: Content) => Content) =>
    ctx.transaction(async (tx) => {
      if (!(await lay(tx, (before) => next(tx, before)))) await spec.unchanged?.(tx, await inForce(tx))
      return read(tx)
    })

  async function save(ctx: Context, change: Input) {
    const whole = (within: Context, before: Content): Content =>
      spec.merge?.(within, before, change) ?? merged(before, change as never, emptyIs)
    if (!names && !prepare) return saveIn(ctx, whole)
    for (;;) {
      const before = await inForce(ctx)
      const after = whole(ctx, before)
      await spec.check?.(ctx, after, before)
      if (names) await requireReferences(ctx, spec.schema, { before, after, ...names })
      await prepare?.(ctx, after, before)
      try {
        return await saveIn(ctx, (_tx, now) => {
          if (!isSame(now, before)) throw new Moved()
          return after
        })
      } catch (error) {
        if (!(error instanceof Moved)) throw error
      }
    }
  }

  const write = async (tx: Context, next: (before: Content) => Content): Promise<void> => {
    await lay(tx, next)
  }
  return { kind: 'settings', name: spec.name, defaults, words, inForce, forShoppers, find, read, save, write }
}

/** Somebody saved while others were asked: the transaction does not hold, and all is asked again. */
class Moved extends Error {}

const isSame = (one: unknown, other: unknown): boolean => canonical(one) === canonical(other)
