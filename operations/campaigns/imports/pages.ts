/**
 * Reads the source of an import in pages: the staged rows of a CSV, the platform's customers, or the popup's
 * subscribers.
 */

import type { PlatformCustomer } from '#operations/store/index'
import { connections, imports } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { readEmail } from '#runtime/schema'
import { trimVisible } from '#runtime/values/confusables'
import { addDays } from '#runtime/values/days'
import { explainPhone, parsePhone } from '#runtime/values/phone'
import { truncate } from '#runtime/values/truncate'
import { getFirstInstant } from '#runtime/values/wall-clock'
import type { CustomerFilters, NewsletterFilters } from '../lists/import-schema.ts'
import type { CsvLayout } from './csv-columns.ts'
import { parseRow } from './csv-rows.ts'
import type { Cell } from './csv-schema.ts'
import { matchesFilters } from './customer-filters.ts'
import { type Entry, formatCustomer } from './entries.ts'

/** The value of `list_imports.options`, by kind. */
export type ImportOptions =
  | { kind: 'csv'; layout: CsvLayout; updates: boolean }
  | { kind: 'ecomplatform'; filters: CustomerFilters }
  | { kind: 'newsletter'; filters: NewsletterFilters }

/** The columns of an import that its run needs. */
export interface ListImport {
  list_id: string
  options: ImportOptions
  /** The time from which filters such as `orderedWithinDays` count back. */
  started_at: Date
}

export interface ImportPage extends imports.ImportPage {
  entries: Entry[]
}

const rowsPerPage = 1000
const customersPerPage = 250

/** Reads the page after the cursor `given`; null for the first page. */
export function readPage(
  ctx: Context,
  run: imports.Run<ListImport>,
  given: imports.Cursor,
): Promise<ImportPage> {
  const cursor = given as string | null
  const { options } = run
  switch (options.kind) {
    case 'csv':
      return readStagedRows(ctx, run.id, options.layout, cursor)
    case 'ecomplatform':
      return readCustomers(ctx, options.filters, run.started_at, cursor)
    case 'newsletter':
      return readSubscribers(ctx, options.filters, cursor)
  }
}

async function readStagedRows(
  ctx: Context,
  importId: string,
  layout: CsvLayout,
  cursor: string | null,
): Promise<ImportPage> {
  const rows = await imports.listStagedRows(ctx, 'list_import_rows', importId, cursor, rowsPerPage)
  return {
    entries: rows.map(({ line, cells }) => parseRow(line, cells as Cell[], layout, ctx.store.country)),
    next: rows.length < rowsPerPage ? null : String(rows.at(-1)!.line),
  }
}

async function readCustomers(
  ctx: Context,
  filters: CustomerFilters,
  startedAt: Date,
  cursor: string | null,
): Promise<ImportPage> {
  const { port, store } = await connections.requireEcommerce(ctx)
  const page = await port.listCustomers(store, {
    limit: customersPerPage,
    ...(cursor === null ? {} : { cursor }),
  })
  const matching = page.customers.filter((each) =>
    matchesFilters(each, filters, startedAt, ctx.store.timezone),
  )
  return { entries: matching.map((each) => toEntry(each, ctx.store.country)), next: page.next }
}

function toEntry(customer: PlatformCustomer, country: string): Entry {
  const who = formatCustomer(customer.id)
  if (!customer.phone?.trim()) return { line: null, reason: `phone: is missing ${who}` }
  const phone = parsePhone(customer.phone, country)
  if (!phone) return { line: null, reason: `phone: ${explainPhone(customer.phone)} ${who}` }
  return {
    line: null,
    phone,
    name: truncate(trimVisible(customer.name) ?? '', 120) || null,
    email: readEmail(customer.email ?? ''),
    customFields: {},
    platformCustomerId: customer.id,
  }
}

/** Selects the subscribers who match the filters and have consented to messages to their phone. */
export function selectSubscribers(ctx: Context, { subscribedFrom, subscribedTo }: NewsletterFilters) {
  const zone = ctx.store.timezone
  let rows = ctx.db
    .selectFrom('newsletter_subscribers')
    .where('status', '=', 'subscribed')
    .where('phone', 'is not', null)
    .where('consent_phone', '=', true)
  if (subscribedFrom) {
    rows = rows.where('created_at', '>=', getFirstInstant(subscribedFrom, zone))
  }
  if (subscribedTo) {
    rows = rows.where('created_at', '<', getFirstInstant(addDays(subscribedTo, 1), zone))
  }
  return rows
}

async function readSubscribers(
  ctx: Context,
  filters: NewsletterFilters,
  cursor: string | null,
): Promise<ImportPage> {
  let rows = selectSubscribers(ctx, filters).select(['id', 'phone', 'name', 'email'])
  if (cursor) rows = rows.where('id', '>', cursor)
  const found = await rows.orderBy('id').limit(rowsPerPage).execute()
  return {
    entries: found.map(({ phone, name, email }) => ({
      line: null,
      phone: phone!,
      name,
      email,
      customFields: {},
      platformCustomerId: null,
    })),
    next: found.length < rowsPerPage ? null : found.at(-1)!.id,
  }
}
