/** Patterns with quadratic backtracking: the check can fail, and their replacements work. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { answerCompressed, CompressedText } from '#runtime/http/compression-cache'
import { trimEndWhile, trimStartWhile } from '#runtime/values/trim'
import { findPatternIssues } from '#scripts/checks/patterns'

const root = mkdtempSync(join(tmpdir(), 'patterns-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function findIssues(code: string): Promise<string[]> {
  for (const layer of ['db', 'runtime', 'operations']) mkdirSync(join(root, layer), { recursive: true })
  writeFileSync(join(root, 'operations/a.ts'), `${code}\n`)
  return (await findPatternIssues(root, [])).map(({ file, wrong }) => `${file} ${wrong}`)
}

test.each([
  String.raw`/\s*;\s*q=/`,
  '/ +$/gm',
  '/[.,;]+$/',
  String.raw`/^\/+|\/+$/g`,
  String.raw`/\S*\s?@/u`,
  String.raw`/(?:\d*)x/`,
  String.raw`/(a|[^)]+)\)/`,
  String.raw`/x?\s{2,}y/`,
  String.raw`/\p{L}+\d/u`,
  String.raw`/^https:\/\/[^\s/]+\S*$/`,
  '/^(a+)+$/',
])('%s', async (pattern) => {
  expect(await findIssues(`export const a = (text: string) => ${pattern}.test(text)`)).toEqual([
    `operations/a.ts tries ${pattern} in each way to share a run`,
  ])
})

test.each([
  String.raw`/\s+/g`,
  String.raw`/\d+(?:[.,]\d+)?/g`,
  String.raw`/^\s*;/`,
  String.raw`/(?<!\S)\S*@/`,
  String.raw`/;\s*q=/`,
  String.raw`/[(+*]a|\+b/`,
  String.raw`/\s*;/y`,
  '/ {0,4}x/',
])('%s is none', async (pattern) => {
  expect(await findIssues(`export const a = (text: string) => ${pattern}.test(text)`)).toEqual([])
})

test('trimming removes whole characters, without splitting surrogate pairs', () => {
  const isDot = (sign: string): boolean => sign === '.'
  expect(trimEndWhile('..a.b...', isDot)).toBe('..a.b')
  expect(trimStartWhile('..a.b...', isDot)).toBe('a.b...')
  expect([trimEndWhile('...', isDot), trimStartWhile('...', isDot), trimEndWhile('', isDot)]).toEqual([
    '',
    '',
    '',
  ])
  const isSmile = (sign: string): boolean => sign === '😀'
  expect([trimEndWhile('a😀😀', isSmile), trimStartWhile('😀😁', isSmile)]).toEqual(['a', '😁'])
  expect(trimEndWhile('a\ude00', isSmile)).toBe('a\ude00')
})

test.each([
  ['gzip, br', 'br'],
  ['br;q=0, gzip', 'gzip'],
  [' BR ; Q = 0.0 ,gzip ; q = 0.5', 'gzip'],
  ['gzip;level=9;q=0', null],
  ['identity', null],
  [`gzip${' '.repeat(15_000)}x`, null],
  [`gzip;${';'.repeat(15_000)}q=1`, 'gzip'],
])('of Accept-Encoding: %.40s', async (accepts, wanted) => {
  const packed = new CompressedText('text '.repeat(1000), {
    type: 'text/plain',
    effort: 'passing',
    etag: '"a"',
  })
  const header = (name: string): string | null => (name === 'accept-encoding' ? accepts : null)
  const { headers } = await answerCompressed(packed, { header }, {})
  expect(headers.get('content-encoding')).toBe(wanted)
})
