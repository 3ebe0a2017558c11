/**
 * Every adapter is tested against its port's contract, and every provider call has a timeout. The adapters are found in
 * the sources, so that new ones are included.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const readTexts = (folder: string): [file: string, text: string][] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [`${folder}/${file}`, readFileSync(join(root, folder, file), 'utf8')])

const sources = [...readTexts('runtime/ports'), ...readTexts('operations')]
const tests = readTexts('test/ports')

/** Matches what provides a whole port: `class … implements MailPort`, `function …(): MailPort`. */
const adapterPattern =
  /export (?:class (\w+)[^{]*? implements (\w+)Port\b|function (\w+)\((?:[^()]|\([^()]*\))*\): (\w+)Port\b)/g

const findAdapters = (files: readonly [string, string][]) =>
  files.flatMap(([file, text]) =>
    [...text.matchAll(adapterPattern)].map(([, aClass, ofClass, aFunction, ofFunction]) => ({
      ...{ file, name: (aClass ?? aFunction)!, port: (ofClass ?? ofFunction)! },
    })),
  )

/** Matches that are not adapters, or that are tested differently. */
const exceptions: Readonly<Record<string, string>> = {
  scopeMail: 'says whose mail it is, and hands it on',
  SandboxTemplates: 'a part of SandboxMessaging: test/ports/messaging.contract.ts asks it',
  WhatsappTemplates:
    'a part of WhatsappMessaging: test/ports/messaging.contract.ts and whatsapp.test.ts ask it',
}

const toContractName = (port: string): string => `${port[0]!.toLowerCase()}${port.slice(1)}Contract(`

describe('adapters', () => {
  const all = findAdapters(sources).filter(({ name }) => !(name in exceptions))

  test('all adapters are found', () => {
    expect(all.length).toBeGreaterThan(11)
    const acme = 'export function acmeMail({ url }: { url: string }): MailPort {\n'
    expect(findAdapters([['acme.ts', acme]])).toEqual([{ file: 'acme.ts', name: 'acmeMail', port: 'Mail' }])
  })

  test.each([...new Set(all.map(({ port }) => port))])(
    'each adapter of %s is tested against its contract',
    (port) => {
      const called = tests
        .filter(([file]) => file.endsWith('.test.ts'))
        .flatMap(([, text]) => text.split(toContractName(port)).slice(1))
      const own = all.filter((each) => each.port === port)
      expect(
        called.length,
        `call ${toContractName(port)}…) for each of ${own.map(({ name }) => name).join(', ')} in test/ports, against a stand-in of the provider`,
      ).toBeGreaterThanOrEqual(own.length)
    },
  )
})

/** Finds calls of `fetch` without a timeout. */
const findEndlessCalls = (text: string): string[] =>
  [...text.matchAll(/(?<![.\w#])fetch\((?!\s*\w+: )/g)]
    .map(({ index }) => text.slice(index, index + 500))
    .filter((call) => !/\bsignal\b/.test(call))

test('every provider call has a timeout', () => {
  expect(findEndlessCalls('await fetch(url, { method: "POST" })')).toHaveLength(1)
  expect(findEndlessCalls('await fetch(url, { signal: AbortSignal.timeout(15_000) })')).toEqual([])
  const found = sources.filter(([, text]) => findEndlessCalls(text).length > 0)
  expect(
    found.map(([file]) => file),
    'say `signal: AbortSignal.timeout(…)`: a provider that never answers would hold the job',
  ).toEqual([])
})
