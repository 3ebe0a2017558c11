/** A search of ours in Shopify's search syntax: pure. */
import type { ProductQuery } from '../port.ts'
import { isPlainId } from './ids.ts'

const fields = ['title', 'sku', 'tag', 'vendor']

const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '')

/** What has a meaning in the syntax loses it. */
const escaped = (word: string): string => word.replace(/[\\:()"'*<>=]/g, (sign) => `\\${sign}`)

/** Each word must begin a word of the name, an SKU, a tag or the brand; asked for with its accents and without. */
function wordsOf(search: string): string[] {
  const words = search.split(/\s+/).filter((word) => word !== '')
  return words.map((word) => {
    const spellings = [...new Set([word, folded(word)])].map(escaped)
    return `(${fields.flatMap((field) => spellings.map((text) => `${field}:${text}*`)).join(' OR ')})`
  })
}

/** Null: nothing can match. */
export function searchText(query: Omit<ProductQuery, 'sort' | 'page' | 'limit'>): string | null {
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
  if (search !== undefined) parts.push(...wordsOf(search))
  return parts.join(' AND ')
}
