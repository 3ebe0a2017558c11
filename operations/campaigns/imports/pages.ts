/** Where the people of an import come from: staged rows, the platform, the popup's subscribers; a page at a time. */

import type { PlatformCustomer } from '#operations/store/door'
import { connections, imports } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { readEmail } from '#runtime/schema'
import { cut } from '#runtime/values/cut'
import { addDays } from '#runtime/values/days'
import { parsePhone } from '#runtime/values/phone'
import { seen } from '#runtime/values/signs'
import { firstInstantOn } from '#runtime/values/wall-clock'
import type { CustomerFilters, NewsletterFilters } from '../lists/import-schema.ts'
import type { CsvLayout } from './csv-columns.ts'
import { entryOf } from './csv-rows.ts'
import type { Cell } from './csv-schema.ts'
import { matches } from './customer-filters.ts'
import { type Entry, toldAs } from './entries.ts'

/** What `list_imports.options` holds, by kind. */
export type ImportOptions =
  | { kind: 'csv'; layout: CsvLayout; updates: boolean }
  | { kind: 'ecomplatform'; filters: CustomerFilters }
  | { kind: 'newsletter'; filters: NewsletterFilters }

/** What is kept of an import. */
export interface ListImport {
  list_id: string
  options: ImportOptions
  /** Which relative days count back from. */
  started_at: Date
}

export interface ImportPage extends imports.ImportPage {
  entries: Entry[]
}

const rowsAtOnce = 1000
const customersAtOnce = 250

/** The page after `cursor` (null: the first). */
export function pageAfter(
  ctx: Context,
  run: imports.Run<ListImport>,
  given: imports.Cursor,
): Promise<ImportPage> {
  const cursor = given as string | null
  const { options } = run
  switch (options.kind) {
    case 'csv':
      return stagedRows(ctx, run.id, options.layout, cursor)
    case 'ecomplatform':
      return customers(ctx, options.filters, run.started_at, cursor)
    case 'newsletter':
      return subscribers(ctx, options.filters, cursor)
  }
}

async function stagedRows(
  ctx: Context,
  importId: string,
  layout: CsvLayout,
  cursor: string | null,
): Promise<ImportPage> {
  const rows = await imports.stagedAfter(ctx, 'list_import_rows', importId, cursor, rowsAtOnce)
  return {
    entries: rows.map(({ line, cells }) => entryOf(line, cells as Cell[], layout, ctx.store.country)),
    next: rows.length < rowsAtOnce ? null : String(rows.at(-1)!.line),
  }
}

async function customers(
  ctx: Context,
  filters: CustomerFilters,
  startedAt: Date,
  cursor: string | null,
): Promise<ImportPage> {
  const { port, store } = await connections.requireEcommerce(ctx)
  const page = await port.listCustomers(store, {
    limit: customersAtOnce,
    ...(cursor === null ? {} : { cursor }),
  })
  const matching = page.customers.filter((each) => matches(each, filters, startedAt, ctx.store.timezone))
  return { entries: matching.map((each) => customerEntry(each, ctx.store.country)), next: page.next }
}

function customerEntry(customer: PlatformCustomer, country: string): Entry {
  const who = toldAs(customer.id)
  if (!customer.phone?.trim()) return { line: null, reason: `phone: is missing ${who}` }
  const phone = parsePhone(customer.phone, country)
  if (!phone) return { line: null, reason: `phone: is not a phone number ${who}` }
  return {
    line: null,
    phone,
    name: cut(seen(customer.name) ?? '', 120) || null,
    email: readEmail(customer.email ?? ''),
    customFields: {},
    platformCustomerId: customer.id,
  }
}

/** Who the filters mean, whichever page. */
export function subscriberRows(ctx: Context, { subscribedFrom, subscribedTo }: NewsletterFilters) {
  const zone = ctx.store.timezone
  let rows = ctx.db
    .selectFrom('newsletter_subscribers')
    .where('status', '=', 'subscribed')
    .where('phone', 'is not', null)
    .where('consent_phone', '=', true)
  if (subscribedFrom) {
    rows = rows.where('created_at', '>=', firstInstantOn(subscribedFrom, zone))
  }
  if (subscribedTo) {
    rows = rows.where('created_at', '<', firstInstantOn(addDays(subscribedTo, 1), zone))
  }
  return rows
}

async function subscribers(
  ctx: Context,
  filters: NewsletterFilters,
  cursor: string | null,
): Promise<ImportPage> {
  let rows = subscriberRows(ctx, filters).select(['id', 'phone', 'name', 'email'])
  if (cursor) rows = rows.where('id', '>', cursor)
  const found = await rows.orderBy('id').limit(rowsAtOnce).execute()
  return {
    entries: found.map(({ phone, name, email }) => ({
      line: null,
      phone: phone!,
      name,
      email,
      customFields: {},
      platformCustomerId: null,
    })),
    next: found.length < rowsAtOnce ? null : found.at(-1)!.id,
  }
}
