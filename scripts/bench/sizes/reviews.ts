/** A store with 200,000 reviews and as many requests: its lists, figures and widget, the export, a large import. */
import { type RawBuilder, sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { allScopes } from '#runtime/roles'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import { area, type Measure } from '../area.ts'

interface Filled {
  storeId: string
  publicId: string
  key: string
  today: string
  daysBefore(days: number): string
}

const timezone = 'America/Sao_Paulo'
const days = 730
const products = 300
const importedRows = 50_000
const atMostMs = 100

const neighbours = 20

export default area<Filled>({
  name: 'reviews',
  description: 'Lists, filters, searches, figures, the widget, the export, and an import of 50,000 rows',
  rows: 200_000,

  async prepare({ database, timed }, rows) {
    const now = new Date()
    const open = async (slug: string) => {
      const owner = `owner@${slug}.example.com`
      const made = { slug, name: slug, owner, plan: 'scale', country: 'BR', currency: 'BRL', timezone }
      const { id, publicId } = await createStore(database, now, made)
      return { id, publicId, owner }
    }
    const { id, publicId, owner } = await open('bench-reviews')
    const { key } = await createKey(database, now, { storeId: id, member: owner, scopes: [...allScopes] })
    await timed(`filling with ${rows} reviews`, null, () => fill(database.root, id, rows))
    // The planner must meet what it meets in production: a store is one of many in a table.
    for (let i = 1; i <= neighbours; i += 1) {
      await fill(database.root, (await open(`bench-neighbour-${i}`)).id, 500)
    }
    const dayOf = (at: number): string =>
      new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(at)
    const daysBefore = (count: number): string => dayOf(now.getTime() - count * 86_400_000)
    return { storeId: id, publicId, key, today: dayOf(now.getTime()), daysBefore }
  },

  measures({ storeId, key, today, daysBefore }) {
    const newest = (condition: string, offset = 0): string =>
      `select * from product_reviews where store_id = $1 and ${condition}
       order by reviewed_at desc, id desc offset ${offset} limit 20`
    const list = (name: string, query: string, condition = 'true', offset = 0): Measure => ({
      name: `list: ${name}`,
      path: `/v1/product-reviews/list?${query}`,
      key,
      atMostMs,
      bare: { text: newest(condition, offset), values: [storeId] },
    })
    const metrics = (name: string, query: string): Measure => ({
      name: `metrics: ${name}`,
      path: `/v1/product-reviews/metrics?${query}`,
      key,
      atMostMs,
      bare: {
        text: `select count(*), avg(rating) from product_reviews where store_id = $1 and status = 'approved'`,
        values: [storeId],
      },
    })
    const dispatches = (name: string, query: string): Measure => ({
      name: `requests: ${name}`,
      path: `/v1/product-reviews/dispatches?${query}`,
      key,
      atMostMs,
      bare: {
        text: `select * from review_dispatches where store_id = $1 order by scheduled_at, id limit 20`,
        values: [storeId],
      },
    })
    const range = (count: number): string => `startDate=${daysBefore(count - 1)}&endDate=${today}`
    return [
      list('page 1', 'page=1'),
      list('page 5,000', 'page=5000', 'true', 99_980),
      list('pending', 'status=pending', `status = 'pending'`),
      list('approved, page 2,000', 'status=approved&page=2000', `status = 'approved'`, 39_980),
      list('approved or rejected', 'status=approved,rejected', `status <> 'pending'`),
      list('one star', 'rating=1', 'rating = 1'),
      list('four and five stars', 'rating=4,5', 'rating >= 4'),
      list('of a product', 'productId=p7', `product_id = 'p7'`),
      list('of a product that has none', 'productId=none', `product_id = 'none'`),
      list('verified', 'verified=true', 'verified'),
      list('featured', 'featured=true', 'featured'),
      list('with images', 'hasImages=true', 'has_images'),
      list('with a reply, imported', 'hasReply=true&source=import', `has_reply and source = 'import'`),
      list(
        'featured and rejected: none',
        'featured=true&status=rejected',
        `featured and status = 'rejected'`,
      ),
      list('30 days', range(30), `reviewed_at > now() - interval '30 days'`),
      list('365 days, five stars', `${range(365)}&rating=5`, `rating = 5`),
      list('highest', 'sort=highest'),
      list('lowest, page 1,000', 'sort=lowest&page=1000', 'true', 19_980),
      list('search: a rare word', 'search=palavra4711', `search_text like '%palavra4711%'`),
      list('search: a word that all have', 'search=produto', `search_text like '%produto%'`),
      list('search: a word that none has', 'search=inexistente', `search_text like '%inexistente%'`),
      list('search: two letters', 'search=47', `search_text like '%47%'`),
      list('search within pending', 'status=pending&search=palavra47', `search_text like '%palavra47%'`),
      metrics('30 days', range(30)),
      metrics('365 days', range(365)),
      metrics('365 days, of a product', `${range(365)}&productId=p7`),
      dispatches('scheduled', 'page=1'),
      dispatches('all, page 5,000', 'status=all&page=5000'),
      dispatches('search: a customer', 'status=all&search=pessoa%204711'),
      dispatches('30 days', `status=all&${range(30)}`),
      {
        name: 'one review',
        path: `/v1/product-reviews/${sampleId}`,
        key,
        atMostMs,
        bare: {
          text: `select * from product_reviews where store_id = $1 and id = $2`,
          values: [storeId, sampleId],
        },
      },
      {
        name: 'home page',
        path: '/v1/dashboard/overview?period=30d',
        key,
        atMostMs: null,
        bare: { text: newest('true'), values: [storeId] },
      },
    ]
  },

  jobs({ storeId, key }) {
    return [
      {
        name: 'export of all reviews',
        path: '/v1/product-reviews/export',
        key,
        atMostMs: null,
        atMostMiB: 256,
        done: {
          text: `select 1 from exports where store_id = $1 and name = 'review-export' and status = 'completed'`,
          values: [storeId],
        },
      },
      {
        name: `import of ${importedRows} rows, 1 in 50 bad`,
        path: '/v1/product-reviews/import',
        key,
        body: { csv: largeFile(), status: 'approved' },
        atMostMs: null,
        atMostMiB: 256,
        done: {
          text: `select 1 from review_imports where store_id = $1 and status = 'completed'
            and imported = ${importedRows - importedRows / 50} and failed = ${importedRows / 50}`,
          values: [storeId],
        },
      },
    ]
  },
})

const sampleId = '01900000-0000-7000-8000-000000000001'

function largeFile(): string {
  const rows = Array.from({ length: importedRows }, (_none, n) => {
    const rating = n % 50 === 0 ? 9 : 1 + (n % 5)
    return `p${1 + (n % products)},${rating},Person ${n},person${n}@example.com,"Muito bom, pedido ${n}"`
  })
  return `product_id,rating,reviewer_name,reviewer_email,text\n${rows.join('\n')}\n`
}

/** Products, reviews over two years and a request for each, in SQL: the oldest first, as they come in. */
async function fill(db: RootDatabase, storeId: string, rows: number): Promise<void> {
  const id = sql.lit(storeId)
  const run = (text: RawBuilder<unknown>): Promise<unknown> => text.execute(db)
  await run(sql`
    insert into product_snapshots (store_id, product_id, name, handle, url, price, currency, digest, is_published,
      platform_created_at, platform_updated_at, checked_at)
    select ${id}, 'p' || n, 'Produto ' || n, 'produto-' || n, 'https://shop.example/' || n, 10, 'BRL', '', true, now(), now(), now()
    from generate_series(1, ${sql.lit(products)}) n`)
  await run(sql`
    insert into product_reviews (store_id, id, product_id, product_name, customer_name, customer_email, rating, text,
      images, status, verified, featured, reply_text, reply_author, replied_at, source, search_text, reviewed_at,
      created_at, updated_at)
    select ${id}, case when n = 1 then ${sql.lit(sampleId)}::uuid else gen_random_uuid() end, 'p' || p, 'Produto ' || p, 'Pessoa ' || n, 'pessoa' || n || '@example.com',
      case when n % 25 = 0 then 1 when n % 18 = 0 then 2 when n % 9 = 0 then 3 when n % 4 = 0 then 4 else 5 end, body,
      case when n % 5 = 0 then jsonb_build_array(jsonb_build_object('id', n::text, 'url', 'https://images.example/' || n))
        else '[]'::jsonb end,
      case when n % 7 = 0 then 'pending' when n % 23 = 0 then 'rejected' else 'approved' end,
      n % 3 > 0, n % 15 = 1, case when n % 6 = 0 then 'Obrigada!' end, case when n % 6 = 0 then 'Loja' end,
      case when n % 6 = 0 then now() end,
      (array['request', 'storefront', 'import'])[1 + n % 3],
      'pessoa ' || n || ' pessoa' || n || '@example.com ' || body || ' produto ' || p, at, at, at
    from generate_series(${sql.lit(rows)}, 1, -1) n
    cross join lateral (select 1 + floor(${sql.lit(products)} * power(random(), 2) + 0 * n)::int as p) product
    cross join lateral (select now() - n * (interval '1 day' * ${sql.lit(days)} / ${sql.lit(rows)}) as at) written
    cross join lateral (select string_agg('palavra' || pick, ' ') as body from (
      select floor(20000 * power(random(), 3) + 0 * n + 0 * k)::int as pick from generate_series(1, 14) k) picks) words
    on conflict do nothing`)
  await run(sql`
    insert into review_dispatches (store_id, id, order_id, order_number, order_item_id, product_id, product_name,
      customer_name, customer_email, channel, status, scheduled_at, sent_at, last_sent_at, search_text, created_at,
      updated_at)
    select ${id}, gen_random_uuid(), 'o' || n, n::text, 'i1', 'p' || (1 + n % ${sql.lit(products)}), 'Produto ' || n % 300,
      'Pessoa ' || n, 'pessoa' || n || '@example.com', 'email',
      case when n % 40 = 0 then 'scheduled' when n % 3 = 0 then 'reviewed' when n % 11 = 0 then 'skipped' else 'sent' end,
      at, case when n % 40 > 0 then at end, case when n % 40 > 0 then at end,
      'pessoa ' || n || ' pessoa' || n || '@example.com ' || n || ' produto', at, at
    from generate_series(${sql.lit(rows)}, 1, -1) n
    cross join lateral (select now() - n * (interval '1 day' * ${sql.lit(days)} / ${sql.lit(rows)}) as at) planned`)
}
