/** Parses rows of a review file into reviews or issues (rule 10). No database. */
import { DateTime } from 'luxon'
import { findTextIssue } from '#runtime/gateway/input'
import { readEmail } from '#runtime/schema'
import { fileDatePattern, isInYears, isOffset, yearsMessage } from '#runtime/values/days'
import { sha256 } from '#runtime/values/ids'
import { truncate } from '#runtime/values/truncate'
import { type Column, type Columns, productColumns } from './columns.ts'

const atMost = { reviewer_name: 80, title: 150, text: 5000, reply: 2000 } as const
const picturesAtMost = 10

export interface RowIssue {
  line: number
  column: string
  message: string
}

export interface ImportedReview {
  line: number
  /** The column that identifies the product, and its value. */
  product: { column: (typeof productColumns)[number]; value: string }
  rating: number
  name: string
  email: string | null
  title: string | null
  text: string | null
  /** The date as written in the file, which is part of the import key. */
  dateText: string
  reviewedAt: Date
  pictures: string[]
  reply: string | null
  repliedAt: Date
  verified: boolean
  /** Null for the default status of the import. */
  status: 'approved' | 'pending' | 'rejected' | null
}

export interface ParseContext {
  columns: Columns
  /** The time zone of dates that are written without one. */
  timezone: string
  now: Date
  /** Whether a URL is a file uploaded here. */
  isUploadedHere(url: string): boolean
}

class RowError extends Error {
  readonly column: string
  constructor(column: string, message: string) {
    super(message)
    this.column = column
  }
}

/** Parses a row. Returns the review, or the first issue of the row. */
export function parseRow(
  line: number,
  cells: readonly string[],
  context: ParseContext,
): ImportedReview | RowIssue {
  const cell = (column: Column): string => {
    const at = context.columns[column]
    const text = at === undefined ? '' : (cells[at] ?? '').trim()
    const wrong = findTextIssue(text)
    if (wrong) throw new RowError(column, wrong)
    return text
  }
  try {
    return parseReview(line, cell, context)
  } catch (error) {
    if (error instanceof RowError) return { line, column: error.column, message: error.message }
    throw error
  }
}

function parseReview(line: number, cell: (column: Column) => string, context: ParseContext): ImportedReview {
  const text = parseText('text', cell('text') || cell('body'))
  const dateText = cell('review_date')
  const reviewedAt = parseDate('review_date', dateText, context) ?? context.now
  const name = parseText('reviewer_name', cell('reviewer_name').replace(/\s+/g, ' '))
  if (name === null) throw new RowError('reviewer_name', 'is missing')
  return {
    line,
    product: parseProduct(cell),
    rating: parseRating(cell('rating')),
    name,
    email: parseEmail(cell('reviewer_email')),
    title: parseText('title', cell('title').replace(/\s+/g, ' ')),
    text,
    dateText,
    reviewedAt,
    pictures: parseImageUrls(cell('picture_urls'), context),
    reply: parseText('reply', cell('reply')),
    repliedAt: parseDate('reply_date', cell('reply_date'), context) ?? context.now,
    verified: ['true', 'yes', '1'].includes(cell('verified').toLowerCase()),
    status: parseStatus(cell('status').toLowerCase()),
  }
}

function parseProduct(cell: (column: Column) => string): ImportedReview['product'] {
  for (const column of productColumns) {
    const value = cell(column)
    if (value !== '') return { column, value }
  }
  throw new RowError('product_id', 'names no product')
}

function parseRating(text: string): number {
  if (!/^[1-5](\.0+)?$/.test(text)) throw new RowError('rating', 'must be a whole number from 1 to 5')
  return Number.parseInt(text, 10)
}

function parseText(column: keyof typeof atMost, text: string): string | null {
  const length = atMost[column]
  if (text.length > length) throw new RowError(column, `has more than ${length} characters`)
  return text === '' ? null : text
}

function parseEmail(text: string): string | null {
  if (text === '') return null
  const email = readEmail(text)
  if (email === null) throw new RowError('reviewer_email', 'is not an email address')
  return email
}

function parseDate(column: Column, text: string, { timezone, now }: ParseContext): Date | null {
  if (text === '') return null
  const iso = text
    .replace(/^(\S+) /, '$1T')
    .replace(/\s?UTC$/, 'Z')
    .replace(/\s/g, '')
  const date = fileDatePattern.test(text) && isOffset(iso) ? DateTime.fromISO(iso, { zone: timezone }) : null
  if (!date?.isValid) throw new RowError(column, 'is no date such as 2026-11-20 or 2026-11-20 09:00')
  if (!isInYears(text)) throw new RowError(column, yearsMessage)
  if (date.toMillis() > now.getTime()) throw new RowError(column, 'is in the future')
  return date.toJSDate()
}

function parseImageUrls(text: string, { isUploadedHere }: ParseContext): string[] {
  const urls = [...new Set(text.split(/[\s,;]+/).filter(Boolean))]
  if (urls.length > picturesAtMost) {
    throw new RowError('picture_urls', `has more than ${picturesAtMost} addresses`)
  }
  for (const url of urls) {
    const isAddress =
      url.length <= 2000 && URL.canParse(url) && (url.startsWith('https://') || isUploadedHere(url))
    if (!isAddress) throw new RowError('picture_urls', `${truncate(url, 100)} is no https address`)
  }
  return urls
}

const statuses = ['approved', 'pending', 'rejected'] as const
/** Parses the status. An unknown status, for example of another app, is ignored. */
const parseStatus = (text: string): ImportedReview['status'] => statuses.find((each) => each === text) ?? null

/** Builds the key by which reviews are deduplicated, so that importing the same file twice adds nothing. */
export function buildImportKey(productId: string, review: ImportedReview): string {
  const who = review.email ?? review.name
  const parts = [productId, who, String(review.rating), review.dateText, review.text ?? '']
  return sha256(parts.map((part) => part.toLowerCase().replace(/\s+/g, ' ').trim()).join('\n'))
}
