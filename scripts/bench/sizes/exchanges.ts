/** A store with 200,000 requests for exchanges and returns over two years: lists, filters, searches. */
import { type Area, type Check, lastDays } from '../area.ts'

const requests = '/v1/product-exchanges/requests'
const sampleId = '01900000-0000-7000-8000-000000000002'
const list = (name: string, query: string): Check => [`list: ${name}`, `${requests}?${query}`, 100]

export default {
  rows: 200_000,
  neighbours: 20,
  // Oldest first, as they arrive; every third has two items.
  fill: [
    `insert into exchange_requests (store_id, id, number, type, status, order_id, order_number, order_placed_at,
      customer_name, customer_email, customer_phone, reasons, amount, currency, outside_window, return_method,
      refund_amount, search_text, approved_at, rejected_at, completed_at, created_at, updated_at)
    select {store}, case when n = 1 then '${sampleId}'::uuid else gen_random_uuid() end, 'EX-' || 1000 + n,
      type, status, 'o' || n / 2, (n / 2)::text, at,
      'Pessoa ' || n, 'pessoa' || n || '@example.com', phone, array[reason],
      10 + n % 400, 'BRL', n % 50 = 0, 'customer-ships', case when status = 'completed' then 10 end,
      concat_ws(e'\\n', 'ex-' || 1000 + n, n / 2, 'pessoa ' || n, 'pessoa' || n || '@example.com', phone,
        'produto ' || n % 300, 'sku-' || n % 300),
      case when status in ('approved', 'in-transit', 'completed') then at + interval '5 hours' end,
      case when status = 'rejected' then at + interval '9 hours' end,
      case when status = 'completed' then at + interval '9 days' end, at, at
    from generate_series({rows}, 1, -1) n
    cross join lateral (select now() - n * (interval '730 days' / {rows}) as at,
      '+55119' || lpad(n::text, 8, '0') as phone,
      case when n % 3 = 0 then 'exchange' else 'return' end as type,
      case when n % 100 < 3 then 'requested' when n % 100 < 5 then 'approved' when n % 100 < 6 then 'in-transit'
        when n % 100 < 18 then 'rejected' when n % 100 < 22 then 'cancelled' else 'completed' end as status,
      case when n % 5000 = 1 then 'wrong-item' when n % 4 = 0 then 'changed-mind' else 'wrong-size' end as reason) v`,
    `insert into exchange_items (store_id, id, request_id, position, order_item_id, product_id, sku, name, quantity,
      approved_quantity, line_total, line_quantity, unit_price, reason, reason_label, requested_at)
    select {store}, gen_random_uuid(), r.id, k, 'i' || k, 'p' || p, 'sku-' || p, 'Produto ' || p, 1, 1, 100, 1, 100,
      r.reasons[1], r.reasons[1], r.created_at
    from (select *, substr(number, 4)::int as n from exchange_requests where store_id = {store}) r
    cross join lateral generate_series(1, case when n % 3 = 0 then 2 else 1 end) k
    cross join lateral (select (n + k) % 300 as p) product
    order by r.created_at`,
  ],
  checks: () => [
    list('page 1', 'page=1'),
    list('page 5,000', 'page=5000'),
    list('requested', 'status=requested'),
    list('completed, page 2,000', 'status=completed&page=2000'),
    list('open', 'status=requested,approved,in-transit'),
    list('exchanges', 'type=exchange'),
    list('by a reason', 'reason=wrong-size'),
    list('by a rare reason', 'reason=wrong-item'),
    list('by a reason that none has', 'reason=none'),
    list('late', 'outsideWindow=true'),
    list('late exchanges that wait', 'outsideWindow=true&type=exchange&status=requested'),
    list('30 days', lastDays(30)),
    list('365 days, returns', `${lastDays(365)}&type=return`),
    list('search: a number', 'search=EX-4711'),
    list('search: a customer', 'search=pessoa%204711'),
    list('search: a phone', 'search=(11)%2090000-4711'),
    list('search: a word that all have', 'search=produto'),
    list('search: a word that none has', 'search=inexistente'),
    list('search: two letters', 'search=47'),
    list('search within requested', 'status=requested&search=produto%2047'),
    ['one request', `${requests}/${sampleId}`, 100],
  ],
} satisfies Area
