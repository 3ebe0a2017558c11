/**
 * A pattern that begins with a run of any length, wherever in a text, is tried anew at each of the run's letters: where
 * what must follow is not there, a text of 16 KiB takes a second in which this process answers nobody. Released
 * migrations stay as they are.
 */
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { type Exception, faultsOf } from './source.ts'

const wrongOf = (pattern: string): string => `tries ${pattern} anew at each place of a run`

const ourOwn = 'it reads what is written in this repository'
const anOperators = 'it reads a setting, once'

/** Whose texts are nobody's to make long. */
const allowed: readonly Exception[] = [
  ...(
    [
      ['runtime/documents/markdown.ts', String.raw`/\s*\n\s*/g`, ourOwn],
      ['runtime/documents/openapi.ts', String.raw`/[\s,]+\S*$/`, ourOwn],
      ['runtime/mcp/search.ts', '/([a-z]+)[a-z-]*$/', ourOwn],
      [
        'db/confining.ts',
        String.raw`/'[^']*'|[(),]|(?:"?\w+"?\s*\.\s*)*"?[a-z_]\w*"?/gi`,
        'it reads our own SQL, each once',
      ],
      ['runtime/server/settings.ts', String.raw`/\/+$/`, anOperators],
      ['runtime/ports/messaging/whatsapp/options.ts', String.raw`/\/+$/`, anOperators],
      ['runtime/ports/storage/disk.ts', String.raw`/\/+$/`, anOperators],
      ['runtime/ports/storage/s3.ts', String.raw`/\/+$/`, anOperators],
      ['runtime/ports/storage/s3.ts', String.raw`/^\/+|\/+$/g`, anOperators],
    ] as const
  ).map(([file, pattern, why]) => ({ file, wrong: wrongOf(pattern), why })),
]

export const patternFaults = (root: string, exceptions = allowed): Promise<Fault[]> =>
  faultsOf(root, {
    layers: ['db', 'runtime', 'operations'],
    suspicious: /\/.*[*+,]/,
    leaves: (file) => file.startsWith('db/migrations/'),
    exceptions,
    listedIn: 'scripts/checks/patterns.ts',
    wrongOf: (node) => {
      if (!ts.isRegularExpressionLiteral(node)) return []
      const { text } = node
      const end = text.lastIndexOf('/')
      // Of a sticky one the caller says where it is tried.
      if (text.includes('y', end) || !beginsWithRun(text.slice(1, end))) return []
      return [
        {
          wrong: wrongOf(text),
          remedy:
            'begin it with what stands before the run ((?<!…) too), take the whole run and look at it (text.replace(/\\s+/g, (run) => …)), ' +
            'or walk from the end (withoutEnd of #runtime/values/ends)',
        },
      ]
    },
  })

const unbounded = /^(?:[*+]|\{\d+,\})\??/
const mayBeNone = /^(?:\?|\{0,\d*\})\??/

/** Whether one of its ways begins with a run that something must follow, with nothing before it that must be there. */
function beginsWithRun(pattern: string): boolean {
  return waysOf(pattern).some((way) => {
    for (let at = 0; at < way.length; ) {
      const end = atomEnd(way, at)
      const atom = way.slice(at, end)
      const rest = way.slice(end)
      const run = unbounded.exec(rest)?.[0]
      if (run !== undefined) return mustFollow(rest.slice(run.length))
      const optional = mayBeNone.exec(rest)?.[0]
      const inner = /^\((?:\?:|\?<[^=!][^>]*>|(?!\?))([\s\S]*)\)$/.exec(atom)?.[1]
      // What follows the group follows a run that ends it.
      const after = mustFollow(rest.slice(optional?.length ?? 0)) ? '.' : ''
      if (inner !== undefined && waysOf(inner).some((each) => beginsWithRun(each + after))) return true
      if (optional === undefined) return false
      at = end + optional.length
    }
    return false
  })
}

/** Whether a part of a pattern can fail, be it by where it stands. */
function mustFollow(part: string): boolean {
  try {
    return part !== '' && !new RegExp(`^(?:${part})x`).test('x')
  } catch {
    return true
  }
}

/** What a pattern says between its `|`. */
function waysOf(pattern: string): string[] {
  const ways: string[] = []
  let from = 0
  for (let at = 0; at < pattern.length; ) {
    if (pattern[at] === '|') {
      ways.push(pattern.slice(from, at))
      from = at + 1
    }
    at = pattern[at] === '|' ? at + 1 : atomEnd(pattern, at)
  }
  return [...ways, pattern.slice(from)]
}

/** The end of what a quantifier behind it would repeat: a character, a class or a group. */
function atomEnd(pattern: string, at: number): number {
  switch (pattern[at]) {
    case '\\':
      return (
        at +
        (/^\\(?:[pPu]\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|[\s\S])/i.exec(pattern.slice(at))?.[0].length ?? 1)
      )
    case '[': {
      const within = /^\[(?:\\[\s\S]|[^\]\\])*\]/.exec(pattern.slice(at))
      return at + (within?.[0].length ?? 1)
    }
    case '(': {
      let end = at + 1
      while (end < pattern.length && pattern[end] !== ')') end = atomEnd(pattern, end)
      return end + 1
    }
    default:
      return at + 1
  }
}
