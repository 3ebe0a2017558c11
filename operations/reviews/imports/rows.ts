/** Rows of a review file as reviews, or as what is wrong with them (rule 10). No database. */
import { DateTime } from 'luxon'
import { wrongWith } from '#runtime/gateway/input'
import { readEmail } from '#runtime/schema'
import { cut } from '#runtime/values/cut'
import { fileDateForm, isInYears, isOffset, yearsSentence } from '#runtime/values/days'
import { sha256 } from '#runtime/values/ids'
import { type Column, type Columns, productColumns } from './columns.ts'

const atMost = { reviewer_name: 80, title: 150, text: 5000, reply: 2000 } as const
const picturesAtMost = 10

export interface Fault {
  line: number
  column: string
  message: string
}

export interface ImportedReview {
  line: number
  /** The column that names the product, and what it says. */
  product: { column: (typeof productColumns)[number]; value: string }
  rating: number
  name: string
  email: string | null
  title: string | null
  text: string | null
  /** As it stands in the file, for the import key. */
  dateText: string
  reviewedAt: Date
  pictures: string[]
  reply: string | null
  repliedAt: Date
  verified: boolean
  /** Null: that of the import. */
  status: 'approved' | 'pending' | 'rejected' | null
}

export interface Surroundings {
  columns: Columns
  /** Of dates that name none. */
  timezone: string
  now: Date
  /** Whether an address is of a file uploaded here. */
  owns(url: string): boolean
}

class RowFault extends Error {
  readonly column: string
  constructor(column: string, message: string) {
    super(message)
    this.column = column
  }
}

/** The first fault is told. */
export function reviewOfRow(
  line: number,
  cells: readonly string[],
  around: Surroundings,
): ImportedReview | Fault {
  const cell = (column: Column): string => {
    const at = around.columns[column]
    const text = at === undefined ? '' : (cells[at] ?? '').trim()
    const wrong = wrongWith(text)
    if (wrong) throw new RowFault(column, wrong)
    return text
  }
  try {
    return readRow(line, cell, around)
  } catch (error) {
    if (error instanceof RowFault) return { line, column: error.column, message: error.message }
    throw error
  }
}

function readRow(line: number, cell: (column: Column) => string, around: Surroundings): ImportedReview {
  const text = limited('text', cell('text') || cell('body'))
  const dateText = cell('review_date')
  const reviewedAt = dateOf('review_date', dateText, around) ?? around.now
  const name = limited('reviewer_name', cell('reviewer_name').replace(/\s+/g, ' '))
  if (name === null) throw new RowFault('reviewer_name', 'is missing')
  return {
    line,
    product: productOf(cell),
    rating: ratingOf(cell('rating')),
    name,
    email: emailOf(cell('reviewer_email')),
    title: limited('title', cell('title').replace(/\s+/g, ' ')),
    text,
    dateText,
    reviewedAt,
    pictures: picturesOf(cell('picture_urls'), around),
    reply: limited('reply', cell('reply')),
    repliedAt: dateOf('reply_date', cell('reply_date'), around) ?? around.now,
    verified: ['true', 'yes', '1'].includes(cell('verified').toLowerCase()),
    status: statusOf(cell('status').toLowerCase()),
  }
}

function productOf(cell: (column: Column) => string): ImportedReview['product'] {
  for (const column of productColumns) {
    const value = cell(column)
    if (value !== '') return { column, value }
  }
  throw new RowFault('product_id', 'names no product')
}

function ratingOf(text: string): number {
  if (!/^[1-5](\.0+)?$/.test(text)) throw new RowFault('rating', 'must be a whole number from 1 to 5')
  return Number.parseInt(text, 10)
}

function limited(column: keyof typeof atMost, text: string): string | null {
  const length = atMost[column]
  if (text.length > length) throw new RowFault(column, `has more than ${length} characters`)
  return text === '' ? null : text
}

function emailOf(text: string): string | null {
  if (text === '') return null
  const email = readEmail(text)
  if (email === null) throw new RowFault('reviewer_email', 'is not an email address')
  return email
}

function dateOf(column: Column, text: string, { timezone, now }: Surroundings): Date | null {
  if (text === '') return null
  const iso = text
    .replace(/^(\S+) /, '$1T')
    .replace(/\s?UTC$/, 'Z')
    .replace(/\s/g, '')
  const date = fileDateForm.test(text) && isOffset(iso) ? DateTime.fromISO(iso, { zone: timezone }) : null
  if (!date?.isValid) throw new RowFault(column, 'is no date such as 2026-11-20 or 2026-11-20 09:00')
  if (!isInYears(text)) throw new RowFault(column, yearsSentence)
  if (date.toMillis() > now.getTime()) throw new RowFault(column, 'is in the future')
  return date.toJSDate()
}

function picturesOf(text: string, { owns }: Surroundings): string[] {
  const urls = [...new Set(text.split(/[\s,;]+/).filter(Boolean))]
  if (urls.length > picturesAtMost) {
    throw new RowFault('picture_urls', `has more than ${picturesAtMost} addresses`)
  }
  for (const url of urls) {
    const isAddress = url.length <= 2000 && URL.canParse(url) && (url.startsWith('https://') || owns(url))
    if (!isAddress) throw new RowFault('picture_urls', `${cut(url, 100)} is no https address`)
  }
  return urls
}

const statuses = ['approved', 'pending', 'rejected'] as const
/** Other apps have words of their own: those say nothing. */
const statusOf = (text: string): ImportedReview['status'] => statuses.find((each) => each === text) ?? null

/** The same for the same review: whoever imports a file twice adds nothing. */
export function importKey(productId: string, review: ImportedReview): string {
  const who = review.email ?? review.name
  const parts = [productId, who, String(review.rating), review.dateText, review.text ?? '']
  return sha256(parts.map((part) => part.toLowerCase().replace(/\s+/g, ' ').trim()).join('\n'))
}
