/** Builds a query in Shopify's search syntax. */
import { foldText } from '#runtime/values/fold'
import type { ProductQuery } from '../port.ts'
import { isPlainId } from './http/ids.ts'

const fields = ['title', 'sku', 'tag', 'vendor']

/** Escapes special characters of the search syntax; drops those that cannot be escaped. */
const escapeWord = (word: string): string =>
  word.replace(/^['<>=-]+|["*]/g, '').replace(/[\\:()]/g, (sign) => `\\${sign}`)

/**
 * Builds the terms of a text search: each word must be a prefix of a word in the name, an SKU, a tag or the brand, with or
 * without accents. Null if the text has no word.
 */
function buildWords(search: string): string[] | null {
  const words = search.split(/\s+/).filter((word) => escapeWord(word) !== '')
  if (words.length === 0) return null
  return words.map((word) => {
    const spellings = [...new Set([word, foldText(word)])].map(escapeWord)
    return `(${fields.flatMap((field) => spellings.map((text) => `${field}:${text}*`)).join(' OR ')})`
  })
}

/** Returns null if no product can match. */
export function buildSearchQuery(query: Omit<ProductQuery, 'sort' | 'page' | 'limit'>): string | null {
  const { search, ids, categoryId, isPublished } = query
  const parts: string[] = []
  if (ids) {
    const known = ids.filter(isPlainId)
    if (known.length === 0) return null
    parts.push(`(${known.map((id) => `id:${id}`).join(' OR ')})`)
  }
  if (categoryId !== undefined) {
    if (!isPlainId(categoryId)) return null
    parts.push(`collection_id:${categoryId}`)
  }
  if (isPublished === true) parts.push('status:active', 'published_status:published')
  if (isPublished === false) parts.push('(-status:active OR published_status:unpublished)')
  if (search !== undefined) {
    const words = buildWords(search)
    if (words === null) return null
    parts.push(...words)
  }
  return parts.join(' AND ')
}
