/** Rules for every import, of contact lists and of reviews (runtime, rules 19 and 23). */
import { expect, test, vi } from 'vitest'
import importCsvIntoList from '#operations/campaigns/imports/api/import-csv-into-list'
import { listImports } from '#operations/campaigns/imports/run'
import importReviews from '#operations/reviews/imports/api/import-reviews'
import { reviewImports } from '#operations/reviews/imports/run'
import { imports } from '#operations/store/index'
import { Context } from '#runtime/context'
import { type ReviewShop, reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { columns, emptyList, makeRows } from '#test/support/imports'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
const signal = new AbortController().signal

interface Kind {
  importer: Parameters<typeof imports.run>[1]
  /** Rows per page. */
  page: number
  /** Requests an import with `rows` rows, every hundredth invalid; returns its id. */
  ask(shop: ReviewShop, rows: number, key?: string): Promise<string>
  /** The expected counts for `rows` rows. */
  counts(rows: number): object
  written: string
}

const kinds: Kind[] = [
  {
    importer: listImports,
    page: 1000,
    async ask(shop, count, key) {
      const rows = makeRows(count).map((row, at) => (at % 100 === 0 ? ['abc', 'Nobody'] : row))
      const request = { params: { id: await emptyList(shop) }, body: { columns, rows } }
      const { body } = await shop.call(importCsvIntoList, key ? { ...request, key } : request)
      return body.jobId
    },
    counts: (rows) => ({
      processed: rows,
      added: rows * 0.99,
      invalid: rows / 100,
      updated: 0,
      unchanged: 0,
    }),
    written: 'list_contacts',
  },
  {
    importer: reviewImports,
    page: 200,
    async ask(shop, count, key) {
      const rows = Array.from(
        { length: count },
        (_none, n) => `1001,${n % 100 === 0 ? 9 : 5},P ${n},Text ${n}`,
      )
      const request = { body: { csv: `product_id,rating,reviewer_name,text\n${rows.join('\n')}\n` } }
      const { body } = await shop.call(importReviews, key ? { ...request, key } : request)
      return body.jobId
    },
    counts: (rows) => ({ imported: rows * 0.99, failed: rows / 100, duplicates: 0 }),
    written: 'product_reviews',
  },
]

const readImport = async ({ importer }: Kind, id: string) =>
  (
    await app.database.query<Record<string, unknown>>(`select * from ${importer.table} where id = $1`, [id])
  )[0]!
const countRows = async (table: string, shop: ReviewShop) =>
  (
    await app.database.query<{ n: number }>(`select count(*)::int n from ${table} where store_id = $1`, [
      shop.id,
    ])
  )[0]!.n
const readNotices = async (shop: ReviewShop, { importer }: Kind) =>
  (
    await app.database.query<{ type: string }>(
      'select type from notifications where store_id = $1 and type like $2 order by id',
      [shop.id, `${importer.name}-%`],
    )
  ).map(({ type }) => type)

/** Crashes in the n-th transaction, after its writes and before its commit. */
function crashAt(n: number) {
  const transaction = Context.prototype.transaction
  let count = 0
  return vi.spyOn(Context.prototype, 'transaction').mockImplementation(function (this: Context, fn, level) {
    return transaction.call(
      this,
      async (within) => {
        const result = await fn(within)
        if (!this.inTransaction) {
          count += 1
          if (count === n) throw new Error('killed')
        }
        return result
      },
      level,
    ) as never
  })
}

for (const kind of kinds) {
  const { importer, page } = kind
  const of = `${importer.name}: `

  test.runIf(isFullSuite)(
    `${of}after a crash on every page each row is counted and written exactly once`,
    async () => {
      const shop = await reviewShop(app)
      const id = await kind.ask(shop, 3 * page)
      const ctx = await shop.context()
      // Three pages, and an empty last one.
      for (const death of [1, 2, 2, 2]) {
        const spy = crashAt(death)
        await expect(imports.run(ctx, importer, id, signal)).rejects.toThrow('killed')
        spy.mockRestore()
        expect(await readNotices(shop, kind)).toEqual([])
        expect((await readImport(kind, id)).status).toBe('running')
      }
      await imports.run(ctx, importer, id, signal)
      await imports.run(ctx, importer, id, signal)
      expect(await readImport(kind, id)).toMatchObject({ status: 'completed', ...kind.counts(3 * page) })
      expect(await countRows(kind.written, shop)).toBe(3 * page * 0.99)
      expect(await countRows(importer.rowsTable, shop)).toBe(0)
      expect(await readNotices(shop, kind)).toEqual([`${importer.name}-completed`])
    },
  )

  test.runIf(isFullSuite)(`${of}a late page continues where the crashed worker stopped`, async () => {
    const shop = await reviewShop(app)
    const id = await kind.ask(shop, 3 * page)
    const ctx = await shop.context()
    // One worker writes its page while the other is still reading the same one.
    const late = vi.spyOn(importer, 'page').mockImplementationOnce(async (...given) => {
      const read = await importer.page(...given)
      const dying = crashAt(2)
      await expect(imports.run(ctx, importer, id, signal)).rejects.toThrow('killed')
      dying.mockRestore()
      return read
    })
    await imports.run(ctx, importer, id, signal)
    late.mockRestore()
    expect(await readImport(kind, id)).toMatchObject({ status: 'completed', ...kind.counts(3 * page) })
    expect(await readNotices(shop, kind)).toEqual([`${importer.name}-completed`])
  })

  test.runIf(isFullSuite)(`${of}two concurrent workers process each page once`, async () => {
    const shop = await reviewShop(app)
    const id = await kind.ask(shop, 2 * page)
    const ctx = await shop.context()
    await Promise.all([imports.run(ctx, importer, id, signal), imports.run(ctx, importer, id, signal)])
    expect(await readImport(kind, id)).toMatchObject({ status: 'completed', ...kind.counts(2 * page) })
    expect(await readNotices(shop, kind)).toEqual([`${importer.name}-completed`])
  })

  test(`${of}a failure notifies once, keeps written rows and deletes staged ones`, async () => {
    const shop = await reviewShop(app)
    const id = await kind.ask(shop, 2 * page)
    const ctx = await shop.context()
    const spy = crashAt(2)
    await expect(imports.run(ctx, importer, id, signal)).rejects.toThrow('killed')
    spy.mockRestore()
    await Promise.all([imports.fail(ctx, importer, id), imports.fail(ctx, importer, id)])
    await imports.run(ctx, importer, id, signal)
    expect(await readImport(kind, id)).toMatchObject({
      status: 'failed',
      failure_reason: 'Something went wrong on our side',
      ...kind.counts(page),
    })
    expect(await countRows(kind.written, shop)).toBe(page * 0.99)
    expect(await countRows(importer.rowsTable, shop)).toBe(0)
    expect(await readNotices(shop, kind)).toEqual([`${importer.name}-failed`])
  })

  test(`${of}a queued import of a removed member fails`, async () => {
    const shop = await reviewShop(app)
    const member = await shop.person('member')
    const id = await kind.ask(shop, 100, member.key)
    await app.database.query('update memberships set removed_at = $1 where user_id = $2', [
      app.clock.now(),
      member.userId,
    ])
    await imports.run(await shop.context(), importer, id, signal)
    expect(await readImport(kind, id)).toMatchObject({
      status: 'failed',
      failure_reason: 'The member who asked for it was removed',
      ...kind.counts(0),
    })
    expect(await countRows(importer.rowsTable, shop)).toBe(0)
  })

  test(`${of}a worker of another store changes nothing`, async () => {
    const shop = await reviewShop(app)
    const foreign = await (await reviewShop(app)).context()
    const id = await kind.ask(shop, 100)
    await imports.run(foreign, importer, id, signal)
    await imports.fail(foreign, importer, id)
    expect(await readImport(kind, id)).toMatchObject({
      status: 'queued',
      failure_reason: null,
      ...kind.counts(0),
    })
  })
}
