/** A store with 200,000 reviews and as many requests over two years: lists, figures, the export, a large import. */
import { type Area, type Check, lastDays } from '../area.ts'

const reviews = '/v1/product-reviews'
const sampleId = '01900000-0000-7000-8000-000000000001'
const importedRows = 50_000
const check = (name: string, path: string): Check => [name, `${reviews}/${path}`, 100]
const list = (name: string, query: string): Check => check(`list: ${name}`, `list?${query}`)
const requests = (name: string, query: string): Check => check(`requests: ${name}`, `dispatches?${query}`)

function largeFile(): string {
  const rows = Array.from({ length: importedRows }, (_none, n) => {
    const rating = n % 50 === 0 ? 9 : 1 + (n % 5)
    return `p${1 + (n % 300)},${rating},Person ${n},person${n}@example.com,"Muito bom, pedido ${n}"`
  })
  return `product_id,rating,reviewer_name,reviewer_email,text\n${rows.join('\n')}\n`
}

export default {
  rows: 200_000,
  neighbours: 20,
  // Oldest first, as they arrive.
  fill: [
    `insert into product_snapshots (store_id, product_id, name, handle, url, price, currency, digest, is_published,
      platform_created_at, platform_updated_at, checked_at)
    select {store}, 'p' || n, 'Produto ' || n, 'produto-' || n, 'https://shop.example/' || n, 10, 'BRL', '', true,
      now(), now(), now()
    from generate_series(1, 300) n`,
    `insert into product_reviews (store_id, id, product_id, product_name, customer_name, customer_email, rating, text,
      images, status, verified, featured, reply_text, reply_author, replied_at, source, search_text, reviewed_at,
      created_at, updated_at)
    select {store}, case when n = 1 then '${sampleId}'::uuid else gen_random_uuid() end, 'p' || p, 'Produto ' || p,
      'Pessoa ' || n, 'pessoa' || n || '@example.com',
      case when n % 25 = 0 then 1 when n % 18 = 0 then 2 when n % 9 = 0 then 3 when n % 4 = 0 then 4 else 5 end, body,
      case when n % 5 = 0 then jsonb_build_array(jsonb_build_object('id', n::text, 'url', 'https://images.example/' || n))
        else '[]'::jsonb end,
      case when n % 7 = 0 then 'pending' when n % 23 = 0 then 'rejected' else 'approved' end,
      n % 3 > 0, n % 15 = 1, case when n % 6 = 0 then 'Obrigada!' end, case when n % 6 = 0 then 'Loja' end,
      case when n % 6 = 0 then now() end, (array['request', 'storefront', 'import'])[1 + n % 3],
      'pessoa ' || n || ' pessoa' || n || '@example.com ' || body || ' produto ' || p, at, at, at
    from generate_series({rows}, 1, -1) n
    cross join lateral (select 1 + floor(300 * power(random(), 2) + 0 * n)::int as p) product
    cross join lateral (select now() - n * (interval '730 days' / {rows}) as at) written
    cross join lateral (select string_agg('palavra' || pick, ' ') as body from (
      select floor(20000 * power(random(), 3) + 0 * n + 0 * k)::int as pick from generate_series(1, 14) k) picks) words
    on conflict do nothing`,
    `insert into review_dispatches (store_id, id, order_id, order_number, order_item_id, product_id, product_name,
      customer_name, customer_email, channel, status, scheduled_at, sent_at, last_sent_at, search_text, created_at,
      updated_at)
    select {store}, gen_random_uuid(), 'o' || n, n::text, 'i1', 'p' || (1 + n % 300), 'Produto ' || n % 300,
      'Pessoa ' || n, 'pessoa' || n || '@example.com', 'email',
      case when n % 40 = 0 then 'scheduled' when n % 3 = 0 then 'reviewed' when n % 11 = 0 then 'skipped' else 'sent' end,
      at, case when n % 40 > 0 then at end, case when n % 40 > 0 then at end,
      'pessoa ' || n || ' pessoa' || n || '@example.com ' || n || ' produto', at, at
    from generate_series({rows}, 1, -1) n
    cross join lateral (select now() - n * (interval '730 days' / {rows}) as at) planned`,
  ],
  checks: () => [
    list('page 1', 'page=1'),
    list('page 5,000', 'page=5000'),
    list('pending', 'status=pending'),
    list('approved, page 2,000', 'status=approved&page=2000'),
    list('approved or rejected', 'status=approved,rejected'),
    list('one star', 'rating=1'),
    list('four and five stars', 'rating=4,5'),
    list('of a product', 'productId=p7'),
    list('of a product that has none', 'productId=none'),
    list('verified', 'verified=true'),
    list('featured', 'featured=true'),
    list('with images', 'hasImages=true'),
    list('with a reply, imported', 'hasReply=true&source=import'),
    list('featured and rejected: none', 'featured=true&status=rejected'),
    list('30 days', lastDays(30)),
    list('365 days, five stars', `${lastDays(365)}&rating=5`),
    list('highest', 'sort=highest'),
    list('lowest, page 1,000', 'sort=lowest&page=1000'),
    list('search: a rare word', 'search=palavra4711'),
    list('search: a word that all have', 'search=produto'),
    list('search: a word that none has', 'search=inexistente'),
    list('search: two letters', 'search=47'),
    list('search within pending', 'status=pending&search=palavra47'),
    check('metrics: 30 days', `metrics?${lastDays(30)}`),
    check('metrics: 365 days', `metrics?${lastDays(365)}`),
    check('metrics: 365 days, of a product', `metrics?${lastDays(365)}&productId=p7`),
    requests('scheduled', 'page=1'),
    requests('all, page 5,000', 'status=all&page=5000'),
    requests('search: a customer', 'status=all&search=pessoa%204711'),
    requests('30 days', `status=all&${lastDays(30)}`),
    check('one review', sampleId),
  ],
  jobs: () => [
    {
      name: 'export of all reviews',
      path: `${reviews}/export`,
      atMostMiB: 256,
      done: `select 1 from exports where store_id = {store} and name = 'review-export' and status = 'completed'`,
    },
    {
      name: `import of ${importedRows} rows, 1 in 50 bad`,
      path: `${reviews}/import`,
      body: { csv: largeFile(), status: 'approved' },
      atMostMiB: 256,
      done: `select 1 from review_imports where store_id = {store} and status = 'completed'
        and imported = ${importedRows - importedRows / 50} and failed = ${importedRows / 50}`,
    },
  ],
} satisfies Area
