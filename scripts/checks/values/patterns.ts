/**
 * A pattern that begins with a run of any length, wherever in a text, is tried anew at each of the run's letters; one with
 * two runs of the same letters side by side in each way to share them: where what must follow is not there, a text of
 * 16 KiB takes a second in which this process answers nobody. Released migrations stay as they are.
 */
import { analyse } from 'scslre'
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { type Exception, faultsOf } from '../source.ts'

const wrongOf = (pattern: string): string => `tries ${pattern} in each way to share a run`

const ourOwn = 'it reads what is written in this repository'
const anOperators = 'it reads a setting, once'

/** Whose texts are nobody's to make long. */
const allowed: readonly Exception[] = [
  ...(
    [
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
        'db/confining.ts',
        String.raw`/'[^']*'|[(),]|(?:"?\w+"?\s*\.\s*)*"?[a-z_]\w*"?/gi`,
        'it reads our own SQL, each once',
      ],
      ['runtime/server/settings.ts', String.raw`/\/+$/`, anOperators],
      ['operations/messaging/provider/whatsapp/options.ts', String.raw`/\/+$/`, anOperators],
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
    listedIn: 'scripts/checks/values/patterns.ts',
    wrongOf: (node) => {
      if (!ts.isRegularExpressionLiteral(node)) return []
      const { text } = node
      const end = text.lastIndexOf('/')
      if (analyse({ source: text.slice(1, end), flags: text.slice(end + 1) }).reports.length === 0) return []
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
