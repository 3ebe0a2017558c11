/** A search of ours in Shopify's search syntax: pure. */
import type { ProductQuery } from '../port.ts'
import { isPlainId } from './http/ids.ts'

const fields = ['title', 'sku', 'tag', 'vendor']

const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '')

/** Signs of the syntax mean themselves; those that none can mean there are left out. */
const written = (word: string): string =>
  word.replace(/^['<>=-]+|["*]/g, '').replace(/[\\:()]/g, (sign) => `\\${sign}`)

/**
 * Each word must begin a word of the name, an SKU, a tag or the brand; asked for with its accents and without. Null:
 * there is no word.
 */
function wordsOf(search: string): string[] | null {
  const words = search.split(/\s+/).filter((word) => written(word) !== '')
  if (words.length === 0) return null
  return words.map((word) => {
    const spellings = [...new Set([word, folded(word)])].map(written)
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
  if (search !== undefined) {
    const words = wordsOf(search)
    if (words === null) return null
    parts.push(...words)
  }
  return parts.join(' AND ')
}
