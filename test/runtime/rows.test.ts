/** Rows by a caller's id, limits, unique names, orders: the same for every small resource of a store. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { Context } from '#runtime/context'
import {
  countRows,
  findRow,
  preparedOne,
  preparedRow,
  refuseDuplicate,
  reorder,
  requireCapacity,
  requireRow,
} from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
const none = 'There is no such thing'
const missing = refuse('not_found', none)

const tag = async (ctx: Context, name: string): Promise<string> => {
  const id = ctx.newId()
  const now = ctx.now()
  const row = { id, name, color: '#000000', created_at: now, updated_at: now }
  await ctx.db.insertInto('inbox_tags').values(row).execute()
  return id
}

/** A store with tags, and another store's tag. */
async function tags(...names: string[]) {
  const ctx = await (await store(app)).context()
  const other = await (await store(app)).context()
  const ids: string[] = []
  for (const name of names) ids.push(await tag(ctx, name))
  return { ctx, other, ids, foreign: await tag(other, 'theirs') }
}

const tagNames = async (ctx: Context) => {
  const rows = await ctx.db.selectFrom('inbox_tags').select('name').orderBy('name').execute()
  return rows.map(({ name }) => name)
}

/** Counts the statements that reach the database. */
async function statements(ctx: Context, work: (ctx: Context) => Promise<unknown>): Promise<number> {
  let n = 0
  const counting = new Proxy(ctx, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (name === 'db') n += 1
      if (name !== 'runPrepared') return value
      return (...args: Parameters<Context['runPrepared']>) => {
        n += 1
        return target.runPrepared(...args)
      }
    },
  })
  await work(counting).catch(() => {})
  return n
}

describe('one row by its id', () => {
  const oddIds = ['', 'nope', "' or 1=1 --", `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(13)}`, '\0']

  test('is found however its id is spelled', async () => {
    const { ctx, ids } = await tags('a')
    const find = ctx.db.selectFrom('inbox_tags').select('name')
    expect(await findRow(find, ids[0]!)).toEqual({ name: 'a' })
    expect(await requireRow(find, ids[0]!.toUpperCase(), none)).toEqual({ name: 'a' })
  })

  test('a malformed id finds nothing, without a query; an unknown one finds nothing', async () => {
    const { ctx } = await tags('a')
    for (const id of [...oddIds, ctx.newId()]) {
      const find = ctx.db.selectFrom('inbox_tags').select('name')
      expect(await findRow(find, id)).toBeUndefined()
      await expect(requireRow(find, id, none)).rejects.toEqual(missing)
    }
    const read = preparedRow(none, (db, { id }: { id: string }) =>
      db.selectFrom('inbox_tags').select('name').where('id', '=', id),
    )
    for (const id of oddIds) expect(await statements(ctx, (at) => read(at, { id }))).toBe(0)
    expect(await statements(ctx, (at) => read(at, { id: ctx.newId() }))).toBe(1)
  })

  test("another store's row is neither read nor locked, changed or deleted", async () => {
    const { ctx, other, foreign } = await tags('a')
    const read = preparedOne(none, (db, { id }) => ({
      rows: db.selectFrom('inbox_tags as t').where('t.id', '=', id),
      item: sql`json_build_object('name', t.name)`,
    }))
    expect((await read(other, foreign)).text).toBe('{"name" : "theirs"}')
    for (const id of [foreign, ...oddIds]) await expect(read(ctx, id)).rejects.toEqual(missing)
    const all = ctx.db.selectFrom('inbox_tags').select('name')
    const changed = ctx.db.updateTable('inbox_tags').set({ name: 'mine' }).returning('id')
    const deleted = ctx.db.deleteFrom('inbox_tags').returning('id')
    for (const query of [all, all.forUpdate(), changed, deleted]) {
      await expect(requireRow(query as typeof all, foreign, none)).rejects.toEqual(missing)
    }
    expect(await tagNames(other)).toEqual(['theirs'])
  })

  test('only that row is changed or deleted', async () => {
    const { ctx, ids } = await tags('a', 'b', 'c')
    const changed = ctx.db.updateTable('inbox_tags').set({ name: 'x' }).returning('id')
    expect(await requireRow(changed, ids[0]!, none)).toEqual({ id: ids[0] })
    expect(await requireRow(ctx.db.deleteFrom('inbox_tags').returning('id'), ids[1]!, none)).toEqual({
      id: ids[1],
    })
    expect(await tagNames(ctx)).toEqual(['c', 'x'])
  })

  test('a query without RETURNING is refused by the compiler', async () => {
    const { ctx } = await tags()
    // @ts-expect-error: a delete without `returning` always answers a row.
    await findRow(ctx.db.deleteFrom('inbox_tags'), 'nope')
    // @ts-expect-error: an update too.
    await findRow(ctx.db.updateTable('inbox_tags').set({ name: 'x' }), 'nope')
  })

  test('a join names the table of the id', async () => {
    const { ctx, ids } = await tags('a')
    const joined = ctx.db
      .selectFrom('inbox_tags as t')
      .innerJoin('inbox_tags as u', 'u.id', 't.id')
      .select('u.name')
    expect(await findRow(joined, ids[0]!, 't.id')).toEqual({ name: 'a' })
  })

  test('values of the context become part of the text', async () => {
    const { ctx, ids } = await tags('a')
    const read = preparedOne<{ currency: string }>(
      none,
      (db, { id, currency }) => ({
        rows: db.selectFrom('inbox_tags as t').where('t.id', '=', id),
        item: sql`json_build_object('c', ${currency}::text)`,
      }),
      { values: (at) => ({ currency: at.store.currency }) },
    )
    expect(JSON.parse((await read(ctx, ids[0]!)).text)).toEqual({ c: 'BRL' })
  })
})

describe('a limit on rows', () => {
  const add = (ctx: Context, name: string): Promise<number> =>
    ctx.transaction(async (tx) => {
      const there = await requireCapacity(tx, tx.db.selectFrom('inbox_tags'), 3, 'Full')
      await tag(tx, name)
      return there
    })

  test('counts one store only, until it is reached', async () => {
    const { ctx, other } = await tags('a', 'b')
    for (const name of ['x', 'y']) await tag(other, name)
    expect(await countRows(ctx.db.selectFrom('inbox_tags').where('name', '=', 'a'))).toBe(1)
    expect(await add(ctx, 'c')).toBe(2)
    await expect(add(ctx, 'd')).rejects.toEqual(refuse('conflict', 'Full'))
    expect(await tagNames(ctx)).toEqual(['a', 'b', 'c'])
  })

  test('one of several concurrent writers for the last slot succeeds', async () => {
    const { ctx } = await tags('a', 'b')
    const outcomes = await Promise.allSettled(['c', 'd', 'e', 'f'].map((name) => add(ctx, name)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of outcomes) {
      if (each.status === 'rejected') expect(each.reason).toEqual(refuse('conflict', 'Full'))
    }
    expect(await tagNames(ctx)).toHaveLength(3)
  })
})

describe('a unique name', () => {
  test('is refused with its own message; of two concurrent writers one succeeds', async () => {
    const { ctx, other } = await tags()
    const make = (at: Context) => refuseDuplicate('inbox_tags_name', 'Taken', () => tag(at, 'one'))
    const outcomes = await Promise.allSettled([make(ctx), make(ctx)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(make(ctx)).rejects.toEqual(refuse('conflict', 'Taken'))
    expect(await make(other)).toEqual(expect.any(String))
  })

  test('any other failure is unchanged', async () => {
    const { ctx } = await tags('a')
    const again = () => tag(ctx, 'a')
    await expect(refuseDuplicate('another_index', 'Taken', again)).rejects.toMatchObject({ code: '23505' })
    const broken = new Error('broken')
    await expect(refuseDuplicate('inbox_tags_name', 'Taken', () => Promise.reject(broken))).rejects.toBe(
      broken,
    )
  })
})

describe('an order', () => {
  const says = { twice: (id: string) => `ids: ${id} twice`, none, leftOut: 'One is left out' }
  const testimonial = async (ctx: Context, position: number): Promise<string> => {
    const id = ctx.newId()
    const now = ctx.now()
    await ctx.db
      .insertInto('testimonials')
      .values({ id, position, author_name: 'A', text: 'T', created_at: now, updated_at: now })
      .execute()
    return id
  }
  async function list(size: number) {
    const ctx = await (await store(app)).context()
    const ids: string[] = []
    for (let at = 1; at <= size; at += 1) ids.push(await testimonial(ctx, at))
    return { ctx, ids }
  }
  const rowsOf = (ctx: Context) =>
    ctx.db.selectFrom('testimonials').select(['id', 'position', 'updated_at']).orderBy('position').execute()
  const inOrder = async (ctx: Context) => (await rowsOf(ctx)).map(({ id }) => id)
  const put = (ctx: Context, ids: readonly string[]) =>
    ctx.transaction((tx) => reorder(tx, { table: 'testimonials', place: 'position' }, ids, says))

  test('is accepted however ids are spelled, and reports what moved', async () => {
    const { ctx, ids } = await list(4)
    const [a, b, c, d] = ids as [string, string, string, string]
    const before = await rowsOf(ctx)
    app.setClock(new Date(app.clock.ms() + 60_000))
    expect(await put(ctx, [a.toUpperCase(), c, b, d])).toEqual({ ids: [a, c, b, d], isMoved: true })
    const after = await rowsOf(ctx)
    expect(after.map(({ id, position }) => [id, position])).toEqual(
      [a, c, b, d].map((id, at) => [id, at + 1]),
    )
    const touched = after.filter(
      ({ id, updated_at }) => +updated_at !== +before.find((row) => row.id === id)!.updated_at,
    )
    expect(touched.map(({ id }) => id)).toEqual([c, b])
    app.setClock(new Date(app.clock.ms() + 60_000))
    expect(await put(ctx, [a, c, b, d])).toEqual({ ids: [a, c, b, d], isMoved: false })
    expect(await rowsOf(ctx)).toEqual(after)
  })

  test('an unknown, malformed or foreign id, or a missing one, moves nothing', async () => {
    const { ctx, ids } = await list(3)
    const theirs = await list(1)
    const [a, b, c] = ids as [string, string, string]
    const wrong: [string[], ReturnType<typeof refuse>][] = [
      [[c, b, b.toUpperCase()], refuse('conflict', says.leftOut)],
      [[c, b, ctx.newId()], missing],
      [[c, b, 'nope'], missing],
      [[c, b, theirs.ids[0]!], missing],
      [[c, b, a, theirs.ids[0]!], missing],
      [[c, b], refuse('conflict', says.leftOut)],
      [[], refuse('conflict', says.leftOut)],
    ]
    for (const [given, refusal] of wrong) await expect(put(ctx, given)).rejects.toEqual(refusal)
    expect(await inOrder(ctx)).toEqual(ids)
    expect(await inOrder(theirs.ctx)).toEqual(theirs.ids)
  })

  test('concurrent reorders are atomic, and the last one wins', async () => {
    const { ctx, ids } = await list(6)
    const orders = ids.map((_id, at) => [...ids.slice(at), ...ids.slice(0, at)].reverse())
    await Promise.all(orders.map((order) => put(ctx, order)))
    const rows = await rowsOf(ctx)
    expect(rows.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6])
    expect(orders).toContainEqual(rows.map(({ id }) => id))
  })

  test('a concurrent insert makes it fail, or comes after it', async () => {
    const { ctx, ids } = await list(3)
    const order = [...ids].reverse()
    const adding = ctx.transaction(async (tx) =>
      testimonial(tx, (await requireCapacity(tx, tx.db.selectFrom('testimonials'), 100, 'Full')) + 1),
    )
    const [put_, added] = await Promise.allSettled([put(ctx, order), adding])
    const id = added.status === 'fulfilled' ? added.value : null
    expect(id).not.toBeNull()
    if (put_.status === 'rejected') expect(put_.reason).toEqual(refuse('conflict', says.leftOut))
    expect(await inOrder(ctx)).toEqual([...(put_.status === 'fulfilled' ? order : ids), id])
  })
})
