/**
 * Every built-in text with a variable reads well without each of its variables, in each language: the texts are found
 * in the sources.
 */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseVariables, renderLoosely, renderText } from '#runtime/values/variables'

const root = new URL('../../', import.meta.url).pathname
const wording = /(?<![\w-])(?:en|es|pt|'pt-BR'):\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")/g

interface Found {
  file: string
  text: string
}
const texts: Found[] = globSync('operations/**/*.ts', { cwd: root }).flatMap((file) =>
  [...readFileSync(`${root}${file}`, 'utf8').matchAll(wording)].flatMap(([, single, double]) => {
    const text = (single ?? double ?? '').replaceAll("\\'", "'")
    return text.includes('{{') ? [{ file, text }] : []
  }),
)

const prepositions =
  'from|at|of|to|in|by|until|with|for|de|do|da|em|na|no|até|para|com|del|en|con|hasta|desde|por|antes|a|al'
const faults: Record<string, RegExp> = {
  'a doubled blank': / {2}/,
  'empty brackets': /[([{“«]\s*[)\]}”»]/,
  'a blank before a mark': / [,.!?;:]/,
  'a mark at the start': /^[\s,.;:!?–-]/,
  'a mark or a blank at the end': /[\s,:;–-]$/,
  'two marks': /[,;:]\s*[,;:.]/,
  'a preposition that leads nowhere': new RegExp(`(?<![\\p{L}])(?:${prepositions})\\s*(?:[.,!?;]|$)`, 'iu'),
  'a label without a value': /:\s*(?:$|\n)/,
}
/** Fills every variable but the missing ones. */
const listFaults = (text: string, names: string[], missing: string[]): string[] => {
  const values = Object.fromEntries(names.map((name) => [name, missing.includes(name) ? null : 'Xy7']))
  const { text: rendered } = renderText(text, values)
  expect(renderLoosely(text, values)).toBe(rendered)
  if (rendered === '') return []
  return Object.entries(faults).flatMap(([name, pattern]) =>
    pattern.test(rendered) ? [`${name}: ${rendered}`] : [],
  )
}

test('no built-in text has a gap without one of its variables, or without all', () => {
  expect(texts.length).toBeGreaterThan(200)
  const found = texts.flatMap(({ file, text }) => {
    const parsed = parseVariables(text)
    if (!('parts' in parsed)) return []
    const names = [...new Set(parsed.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name])))]
    const without = [...names.map((name) => [name]), ...(names.length > 1 ? [names] : [])]
    const kinds = (missing: string[]) => listFaults(text, names, missing)
    // A text that ends with a comma by itself, such as a greeting, may do so.
    const own = new Set(kinds([]).map((fault) => fault.split(':')[0]))
    return without.flatMap((missing) =>
      kinds(missing).flatMap((fault) => (own.has(fault.split(':')[0]) ? [] : [`${file}: ${fault}`])),
    )
  })
  expect(found).toEqual([])
})
