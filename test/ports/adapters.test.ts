/** Each adapter keeps the contract of its port, and none waits for ever: found in the sources, so that a new one is too. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const textsOf = (folder: string): [file: string, text: string][] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [`${folder}/${file}`, readFileSync(join(root, folder, file), 'utf8')])

const sources = [...textsOf('runtime/ports'), ...textsOf('operations')]
const tests = textsOf('test/ports')

/** What makes a whole port: `class … implements MailPort`, `function …(): MailPort`. */
const making =
  /export (?:class (\w+)[^{]*? implements (\w+)Port\b|function (\w+)\((?:[^()]|\([^()]*\))*\): (\w+)Port\b)/g

const adaptersOf = (files: readonly [string, string][]) =>
  files.flatMap(([file, text]) =>
    [...text.matchAll(making)].map(([, aClass, ofClass, aFunction, ofFunction]) => ({
      ...{ file, name: (aClass ?? aFunction)!, port: (ofClass ?? ofFunction)! },
    })),
  )

/** What is no adapter, or kept to its contract otherwise. */
const apart: Readonly<Record<string, string>> = {
  mailOfStore: 'says whose mail it is, and hands it on',
  SandboxTemplates: 'a part of SandboxMessaging: test/ports/messaging.contract.ts asks it',
  WhatsappTemplates:
    'a part of WhatsappMessaging: test/ports/messaging.contract.ts and whatsapp.test.ts ask it',
}

const contractOf = (port: string): string => `${port[0]!.toLowerCase()}${port.slice(1)}Contract(`

describe('adapters', () => {
  const all = adaptersOf(sources).filter(({ name }) => !(name in apart))

  test('are found', () => {
    expect(all.length).toBeGreaterThan(11)
    const acme = 'export function acmeMail({ url }: { url: string }): MailPort {\n'
    expect(adaptersOf([['acme.ts', acme]])).toEqual([{ file: 'acme.ts', name: 'acmeMail', port: 'Mail' }])
  })

  test.each([...new Set(all.map(({ port }) => port))])('of %s keep its contract, each', (port) => {
    const called = tests
      .filter(([file]) => file.endsWith('.test.ts'))
      .flatMap(([, text]) => text.split(contractOf(port)).slice(1))
    const own = all.filter((each) => each.port === port)
    expect(
      called.length,
      `call ${contractOf(port)}…) for each of ${own.map(({ name }) => name).join(', ')} in test/ports, against a stand-in of the provider`,
    ).toBeGreaterThanOrEqual(own.length)
  })
})

/** Calls of `fetch` that say nothing of when they are over. */
const endless = (text: string): string[] =>
  [...text.matchAll(/(?<![.\w#])fetch\((?!\s*\w+: )/g)]
    .map(({ index }) => text.slice(index, index + 500))
    .filter((call) => !/\bsignal\b/.test(call))

test('a call of a provider is over at some time', () => {
  expect(endless('await fetch(url, { method: "POST" })')).toHaveLength(1)
  expect(endless('await fetch(url, { signal: AbortSignal.timeout(15_000) })')).toEqual([])
  const found = sources.filter(([, text]) => endless(text).length > 0)
  expect(
    found.map(([file]) => file),
    'say `signal: AbortSignal.timeout(…)`: a provider that never answers would hold the job',
  ).toEqual([])
})
