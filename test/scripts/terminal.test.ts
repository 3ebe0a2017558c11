/** Output of command lines: colours and widths for terminals, whole lines for pipes, help for each. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { showProgress } from '#scripts/cli/progress'
import { type Column, table } from '#scripts/cli/table'
import { paint, textWidth, truncate } from '#scripts/cli/terminal'
import { keysProgram } from '#scripts/keys'
import { seedProgram } from '#scripts/seed'
import { fakeOutput, run } from '#test/support/command'
import { listCommands, others, programs, splitExample } from '#test/support/programs'

const root = join(import.meta.dirname, '../..')

beforeEach(() => {
  for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS']) vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.useRealTimers()
})

describe('help', () => {
  test('every npm script has help', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect([...Object.keys(programs), ...others].sort()).toEqual(Object.keys(scripts).sort())
  })

  const pipe = fakeOutput().output
  const all = listCommands()

  test.each(all.map((each) => [each.name, each] as const))(
    '%s has help',
    async (name, { program, command, args }) => {
      const { code, out, err } = await run(program, [...args, '--help'])
      expect([code, err]).toEqual([0, ''])
      expect(out).toContain(`Usage: ${name} `)
      for (const { flags, description } of command.options) {
        expect(out).toContain(flags)
        expect(description).not.toBe('')
      }
      for (const { description } of command.registeredArguments) expect(description).not.toBe('')
      expect(out).toContain('\nExamples:\n')
      expect(stripVTControlCharacters(out)).toBe(out)
    },
  )

  test.each(all.map((each) => [each.name, each] as const))(
    'the examples of %s are valid',
    async (_name, { program, args }) => {
      const { out } = await run(program, [...args, '--help'])
      for (const text of out.split('\nExamples:\n')[1]?.trimEnd().split('\n') ?? []) {
        const { script, given } = splitExample(text)
        const parsed = programs[script]!({ out: pipe, err: pipe, env: {} })
        const done = vi.fn()
        for (const each of [parsed, ...parsed.commands]) each.action(done)
        await parsed.parseAsync(given, { from: 'user' })
        expect(done, text).toHaveBeenCalledOnce()
      }
    },
  )

  test('help is coloured and fits in a terminal', async () => {
    const { out } = await run(seedProgram, ['load', '--help'], { columns: 60 })
    expect(out).toContain('\x1b[1mOptions:\x1b[22m')
    const [options] = stripVTControlCharacters(out).split('Examples:')
    expect(Math.max(...options!.split('\n').map((each) => each.length))).toBeLessThanOrEqual(60)
  })
})

test('colours are for terminals without NO_COLOR', () => {
  const [pipe, terminal] = [fakeOutput().output, fakeOutput(80).output]
  expect(paint(pipe, 'red', 'no')).toBe('no')
  expect(paint(terminal, 'red', 'no')).toBe('\x1b[31mno\x1b[39m')
  vi.stubEnv('NO_COLOR', '1')
  expect(paint(terminal, 'red', 'no')).toBe('no')
})

test('a refusal is red in a terminal, and one line', async () => {
  const { code, err } = await run(keysProgram, ['destroy'], { columns: 80 })
  expect([code, err]).toEqual([1, "\x1b[31merror: unknown command 'destroy'\x1b[39m\n"])
})

describe('a table', () => {
  const columns: Column[] = [
    { title: 'id', kind: 'exact' },
    { title: 'name', kind: 'text' },
    { title: 'scopes', kind: 'text' },
    { title: 'rows', kind: 'number', style: (cell) => (cell === '7' ? 'green' : null) },
  ]
  const rows = [
    ['a-1', 'A shop whose name goes on and on', 'platform:read,platform:write,billing:write', '7'],
    ['b-22', '店舗 é 🛍️', 'platform:read', '1000'],
  ]
  const plain = (width?: number): string[] =>
    table(fakeOutput(width).output, columns, rows).map((each) => stripVTControlCharacters(each))

  test('a table has its full width in a pipe', () => {
    expect(table(fakeOutput().output, columns, rows)).toEqual(
      [
        'id    name                              scopes                                      rows',
        'a-1   A shop whose name goes on and on  platform:read,platform:write,billing:write     7',
        'b-22  店舗 é 🛍️                        platform:read                               1000',
      ].map((each, n) => (n === 2 ? expect.stringMatching(/^b-22 {2}店舗 é 🛍️ +platform:read +1000$/) : each)),
    )
  })

  test.each([200, 80, 60, 44, 34, 20, 10])(
    'a table fits in %i columns, numbers and ids whole as long as possible',
    (width) => {
      const lines = plain(width)
      expect(lines).toHaveLength(3)
      for (const each of lines) expect(textWidth(each)).toBeLessThanOrEqual(width)
      if (width < 34) return
      expect(new Set(lines.map(textWidth)).size).toBe(1)
      expect(lines[2]).toMatch(/^b-22 .* 1000$/)
      expect(lines[1]!.includes('…')).toBe(width < 200)
    },
  )

  test('the widest text is truncated first', () => {
    expect(plain(80)[1]).toBe(
      'a-1   A shop whose name goes on and on  platform:read,platform:write,bill…     7',
    )
  })

  test('control characters are not printed', () => {
    const printed = table(
      fakeOutput(80).output,
      [{ title: 'name', kind: 'text' }],
      [['red\x1b[31m\nalert\u0007']],
    )
    expect(printed[1]).toBe('red [31m alert ')
  })

  test('cells are coloured only in a terminal', () => {
    expect(table(fakeOutput(200).output, columns, rows)[1]).toContain('\x1b[32m   7\x1b[39m')
  })
})

test('a text is truncated between graphemes, by its display width', () => {
  expect([
    truncate('abcdef', 6),
    truncate('abcdef', 4),
    truncate('日本語', 5),
    truncate('e\u0301e\u0301e\u0301', 2),
  ]).toEqual(['abcdef', 'abc…', '日本…', 'e\u0301…'])
})

describe('progress', () => {
  const began = (columns?: number) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const { output, text } = fakeOutput(columns)
    const progress = showProgress(output)
    progress.begin('Rows', 4000, 'rows')
    vi.advanceTimersByTime(5000)
    progress.at(1000, 'orders')
    vi.advanceTimersByTime(5000)
    return { progress, text }
  }

  test('progress is a bar in a terminal that is overwritten and removed', () => {
    const { progress, text } = began(80)
    expect(text().split('\r').at(-1)).toBe(
      `Rows  ${'█'.repeat(6)}${'░'.repeat(18)}   25%  200 rows/s  0:10 left  orders\x1b[K`,
    )
    expect(text()).not.toContain('\n')
    progress.end()
    const ended = text()
    expect(ended.endsWith('\r\x1b[K')).toBe(true)
    vi.advanceTimersByTime(60_000)
    expect(text()).toBe(ended)
  })

  test('the bar is never wider than the terminal', () => {
    const { text } = began(30)
    for (const each of text().split('\r')) expect(textWidth(stripVTControlCharacters(each))).toBeLessThan(30)
  })

  test('progress is a line every ten seconds elsewhere', () => {
    const { progress, text } = began()
    expect(text()).toBe('Rows   25%  200 rows/s  0:10 left  orders\n')
    vi.advanceTimersByTime(9999)
    expect(text().split('\n')).toHaveLength(2)
    progress.at(3000, 'items')
    vi.advanceTimersByTime(1)
    expect(text().split('\n')[1]).toBe('Rows   75%  150 rows/s  0:07 left  items')
    progress.end()
    vi.advanceTimersByTime(60_000)
    expect(text().split('\n')).toHaveLength(3)
  })

  test('work of unknown size shows the elapsed time', () => {
    const { progress, text } = began()
    progress.begin('inbox: filling', 0)
    vi.advanceTimersByTime(70_000)
    expect(text().trimEnd().split('\n').at(-1)).toBe('inbox: filling  1:10 so far')
  })

  test('short work shows nothing', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const { output, text } = fakeOutput()
    const progress = showProgress(output)
    progress.begin('Rows', 10, 'rows')
    progress.at(10)
    vi.advanceTimersByTime(9000)
    progress.end()
    expect(text()).toBe('')
  })
})
