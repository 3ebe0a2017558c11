/**
 * Finds regular expressions with quadratic backtracking. A pattern that begins with an unbounded run is tried again at
 * each character of the run; two adjacent runs of the same characters are tried for each split. A text of 16 KiB that
 * does not match then blocks the process for a second.
 */
import { analyse } from 'scslre'
import type { Issue } from '#runtime/registry/checks'
import { readCode, typescriptFiles } from './files.ts'

const literal =
  /(?<=[=(,:[!?&|{}>;]\s*|\breturn\s)\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/([dgimsuvy]*)/g
const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm

const ourOwn = 'it reads what is written in this repository'
const anOperators = 'it reads a setting, once'
const ofCells = 'it reads a cell or heading of at most 80 characters'

/** Allowlist: patterns that are never applied to a long text from outside. */
const allowed: readonly (readonly [file: string, pattern: string, why: string])[] = [
  ['runtime/documents/markdown.ts', String.raw`/\s*\n\s*/g`, ourOwn],
  [
    'runtime/documents/markdown.ts',
    '/`([^`]+)`|\\*\\*([^*]+)\\*\\*|\\[([^\\]]+)\\]\\(((?:https:\\/\\/|\\/|#|\\.)[^)\\s]*)\\)/g',
    ourOwn,
  ],
  ['runtime/documents/pattern.ts', String.raw`/^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/`, ourOwn],
  ['operations/storefront/script/modules.ts', String.raw`/\n\/\/# sourceMappingURL=.*\s*$/`, ourOwn],
  ['runtime/documents/openapi.ts', String.raw`/[\s,]+\S*$/`, ourOwn],
  [
    'db/scoping.ts',
    String.raw`/'[^']*'|[(),]|(?:"?\w+"?\s*\.\s*)*"?[a-z_]\w*"?/gi`,
    'it reads our own SQL, each once',
  ],
  [
    'operations/product-page/size-guides/measures.ts',
    String.raw`/(?<![\d/])(?:(?<whole>\d+)[\s-])?(?<fraction>1\/2|[13]\/4|[1357]\/8|(?:[13579]|1[135])\/16)(?![\d/])|(?<before>\d+)?\s?(?<sign>[½¼¾⅓⅔⅛⅜⅝⅞])|\d+(?:[.,]\d+)?|(?<![\d.,])[.,]\d+/g`,
    ofCells,
  ],
  [
    'operations/product-page/size-guides/measures.ts',
    String.raw`/["″”]|''|(?<!\p{L})(?:inch|inches|in(?=[^\p{L}]*$)|(?<=\d\s*)in|pol|polegadas?|pulg|pulgadas?)(?!\p{L})\.?/giu`,
    ofCells,
  ],
  ['runtime/server/settings.ts', String.raw`/\/+$/`, anOperators],
  ['operations/messaging/provider/whatsapp/options.ts', String.raw`/\/+$/`, anOperators],
  ['runtime/ports/storage/disk.ts', String.raw`/\/+$/`, anOperators],
  ['runtime/ports/storage/s3.ts', String.raw`/\/+$/`, anOperators],
  ['runtime/ports/storage/s3.ts', String.raw`/^\/+|\/+$/g`, anOperators],
]

export async function findPatternIssues(root: string, exceptions = allowed): Promise<Issue[]> {
  const exempt = new Set(exceptions.map(([file, pattern]) => `${file} ${pattern}`))
  const slow = new Set<string>()
  const faults: Issue[] = []
  for (const layer of ['db', 'runtime', 'operations']) {
    for (const file of await typescriptFiles(root, layer)) {
      if (file.startsWith('db/migrations/')) continue
      for (const pattern of findSlowPatterns(readCode(root, file))) {
        slow.add(`${file} ${pattern}`)
        if (exempt.has(`${file} ${pattern}`)) continue
        faults.push({
          file,
          wrong: `tries ${pattern} in each way to share a run`,
          remedy:
            'begin it with what precedes the run ((?<!…) too), match the whole run and look at it (text.replace(/\\s+/g, (run) => …)), ' +
            'or walk from the end (trimEndWhile of #runtime/values/trim)',
        })
      }
    }
  }
  const outlived = [...exempt].filter((exception) => !slow.has(exception))
  return [
    ...faults,
    ...outlived.map((exception) => ({
      file: 'scripts/checks/patterns.ts',
      wrong: `nothing is slow any more: ${exception}`,
      remedy: 'take it off the list',
    })),
  ]
}

const findSlowPatterns = (code: string): string[] =>
  [...code.replace(comments, '').matchAll(literal)]
    .filter(([, source]) => /[*+,]/.test(source!))
    .filter(([, source, flags]) => analyse({ source: source!, flags: flags! }).reports.length > 0)
    .map(([pattern]) => pattern)
