/** People are compared by their keys, and by nothing else: the rule, checked on the files' own text. */
import { readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { Fault } from '#runtime/checks'
import { typescriptFiles } from './imports.ts'

const phones = 'compare phone_key with phoneKey(…), or search with phoneLike(…): a number has many spellings'
const emails = 'compare emailKeyOf(column) with emailKey(…) of #runtime/email: an address has many spellings'

/** What compares, matches or makes people the same. A search for a part of a text (`like`) compares nobody. */
const rules: readonly [RegExp, string][] = [
  [/\b(?:where|whereRef|on|onRef|eb)\(\s*'(?:\w+\.)?(?:\w+_)?phone'\s*,\s*'(?:=|<>|!=|in|not in)'/, phones],
  [
    /\b(?:where|whereRef|on|onRef|eb)\(\s*'(?:\w+\.)?(?:\w+_)?email'\s*,\s*'(?:=|<>|!=|in|not in)'\s*,(?!\s*'due')/,
    emails,
  ],
  [/\b(?:customer_)?phone\s+(?:=|<>|like|ilike|in)\s+(?:\$\{|any\s*\()/, phones],
  [/\b\w+\.(?:customer_)?phone\s+(?:=|<>|like|ilike|in)\s+\w+\.(?:customer_)?phone\b/, phones],
  [/\blower\(\s*(?:\w+\.)?(?:\w+_)?email\s*\)(?!\s*(?:like|gin_trgm_ops))/, emails],
  [/[eE]mail(?:s|\w*\))?\??(?:\.trim\(\))?\??\.toLowerCase\(\)/, emails],
]

/** Columns of their own meaning, and tables that hold the key already. */
const allowed: readonly [file: string, text: RegExp, why: string][] = [
  ['operations/capture/lib/push.ts', /'s\.consent_email'/, 'a consent, not an address'],
  ['operations/campaigns/lib/import-pages.ts', /'consent_phone'/, 'a consent, not a phone'],
  ['operations/capture/lib/unsubscribes.ts', /'email', 'in'/, 'email_unsubscribes holds keys'],
]

export async function identityFaults(root: string): Promise<Fault[]> {
  const faults: Fault[] = []
  for (const path of await typescriptFiles(join(root, 'operations'))) {
    const file = relative(root, path).split(sep).join('/')
    const lines = (await readFile(path, 'utf8')).split('\n')
    lines.forEach((line, at) => {
      if (/^\s*(?:\/\/|\*|\/\*)/.test(line)) return
      if (allowed.some(([of, text]) => of === file && text.test(line))) return
      for (const [rule, remedy] of rules) {
        if (rule.test(line)) {
          faults.push({ file: `${file}:${at + 1}`, wrong: 'compares people by how they are spelled', remedy })
        }
      }
    })
  }
  return faults
}
