/** Parses rows of a review file into reviews or issues (rule 10). No database. */
import { DateTime } from 'luxon'
import { headers } from '#operations/store/index'
import { findTextIssue } from '#runtime/gateway/input'
import { readEmail } from '#runtime/schema'
import { fileDatePattern, isInYears, isOffset, yearsMessage } from '#runtime/values/days'
import { sha256 } from '#runtime/values/ids'
import { trimEndWhile, trimStartWhile } from '#runtime/values/trim'
import { countCharacters, truncate } from '#runtime/values/truncate'
import { type Column, statusWords, verifiedWords } from './column-names.ts'
import { type Columns, productColumns } from './columns.ts'

const atMost = { reviewer_name: 80, title: 150, text: 5000, reply: 2000 } as const
const picturesAtMost = 10

export interface RowIssue {
  line: number
  column: string
  message: string
}

export interface ImportedReview {
  line: number
  /** Values that may identify the product, in the order in which it is looked up. */
  products: { column: (typeof productColumns)[number]; value: string }[]
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
  readonly column: Column
  constructor(column: Column, message: string) {
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
  const { at } = context.columns
  /** The values of a field's columns that are not blank, the preferred one first. */
  const values = (column: Column): string[] =>
    at[column].flatMap((position) => {
      const text = (cells[position] ?? '').trim()
      const wrong = findTextIssue(text)
      if (wrong) throw new RowError(column, wrong)
      return text === '' ? [] : text
    })
  try {
    return parseReview(line, values, context)
  } catch (error) {
    if (error instanceof RowError) return { line, column: error.column, message: error.message }
    throw error
  }
}

function parseReview(
  line: number,
  values: (column: Column) => string[],
  context: ParseContext,
): ImportedReview {
  const cell = (column: Column): string => values(column)[0] ?? ''
  const text = parseText('text', cell('text'))
  const dateText = cell('review_date')
  const reviewedAt = parseDate('review_date', dateText, context) ?? context.now
  const name = parseText('reviewer_name', cell('reviewer_name').replace(/\s+/g, ' '))
  if (name === null) throw new RowError('reviewer_name', 'is missing')
  return {
    line,
    products: parseProducts(values),
    rating: parseRating(cell('rating')),
    name,
    email: parseEmail(cell('reviewer_email')),
    title: parseText('title', cell('title').replace(/\s+/g, ' ')),
    text,
    dateText,
    reviewedAt,
    pictures: parseImageUrls(values('picture_urls').join(' '), context),
    reply: parseText('reply', cell('reply')),
    repliedAt: parseDate('reply_date', cell('reply_date'), context) ?? context.now,
    verified: verifiedWords.includes(headers.foldHeader(cell('verified'))),
    status: parseStatus(values('status'), values('hidden')),
  }
}

function parseProducts(values: (column: Column) => string[]): ImportedReview['products'] {
  const products = productColumns.flatMap((column) =>
    values(column).map((value) => ({ column, value: parseProductValue(value) })),
  )
  if (products.length === 0) throw new RowError('product_id', 'names no product')
  return products
}

/** Reads the id in `gid://shopify/Product/1`, the handle in a product's address, and a number that a spreadsheet wrote. */
function parseProductValue(text: string): string {
  const number = /^'?(\d+)(?:\.0+)?$/.exec(text)?.[1]
  if (number !== undefined) return number
  if (!/^[a-z]+:\/\//i.test(text)) return text
  const [path] = text.split(/[?#]/)
  return path!.split('/').findLast((part) => part !== '')!
}

function parseRating(text: string): number {
  if (!/^[1-5](?:[.,]0+)?(?:\s?\/\s?5)?$/.test(text)) {
    throw new RowError('rating', 'must be a whole number from 1 to 5')
  }
  return Number.parseInt(text, 10)
}

function parseText(column: keyof typeof atMost, text: string): string | null {
  const length = atMost[column]
  if (countCharacters(text) > length) throw new RowError(column, `has more than ${length} characters`)
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

/** Splits before the next address, because an address may contain commas (Cloudinary) or semicolons. */
const addressSeparator = /\s|(?<=[,;|])(?=https?:)/
const isBeforeAddress = (sign: string): boolean => /[\s,;|["']/.test(sign)
const isAfterAddress = (sign: string): boolean => /[\s,;|\]"']/.test(sign)

function parseImageUrls(text: string, { isUploadedHere }: ParseContext): string[] {
  const urls = [
    ...new Set(
      text.split(addressSeparator).flatMap((part) => {
        const url = trimEndWhile(trimStartWhile(part, isBeforeAddress), isAfterAddress)
        if (url === '') return []
        return isUploadedHere(url) ? url : url.replace(/^http:/, 'https:')
      }),
    ),
  ]
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

/** Whether a column such as `hidden` or `deleted_at` says no, or nothing. */
const isNo = (word: string): boolean =>
  statusWords[word] === 'rejected' || ['', 'n', 'f', 'off', 'null', 'none', 'nil'].includes(word)

/**
 * Parses the status. Null means the default of the import. A review that another program hides, holds back, or gives a
 * status of its own is never published here.
 */
function parseStatus(statuses: readonly string[], hidden: readonly string[]): ImportedReview['status'] {
  const found = statuses.map((text) => statusWords[headers.foldHeader(text)] ?? 'pending')
  const isHidden = hidden.some((text) => !isNo(headers.foldHeader(text)))
  if (isHidden || found.includes('rejected')) return 'rejected'
  if (found.includes('pending')) return 'pending'
  return found.includes('approved') ? 'approved' : null
}

/** Builds the key by which reviews are deduplicated, so that importing the same file twice adds nothing. */
export function buildImportKey(productId: string, review: ImportedReview): string {
  const who = review.email ?? review.name
  const parts = [productId, who, String(review.rating), review.dateText, review.text ?? '']
  return sha256(parts.map((part) => part.toLowerCase().replace(/\s+/g, ' ').trim()).join('\n'))
}
