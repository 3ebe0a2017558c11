/** Rules that stand with the code: what is cited and named is there. */
import { describe, expect, test } from 'vitest'
import { ruleFaults } from '#scripts/checks/rules'
import { faultLines } from './trees.ts'

describe('rules that stand with the code', () => {
  const readme = (...rules: string[]): string =>
    `# One\n\nIt is for something.\n\n## Rooms\n\n- \`a/\`: it.\n\n## Rules\n\n${rules.join('\n')}\n
## Takes and gives\n\nNothing.\n\n## Where to begin\n\n1. \`a/b.ts\`: all of it.\n`
  const right: Record<string, string> = {
    'operations/one/README.md': readme(
      '1. **First.** It is so.',
      '2. **Second.** (a) This. (b) That, by rule 1.',
    ),
    'operations/one/a/b.ts': '/** What is done (rules 1 and 2b; runtime, rule 1). */',
    'runtime/README.md': '# Runtime\n\n## Rules\n\n1. **All.** For all; see `image/png` and `/v1/things`.\n',
    'runtime/a.ts': '/** (rule 1) */',
    'test/operations/one/a.test.ts': '// By turns (rule\n// 2), as ever.\nconst rows = `§ 3, Rules 9`',
    'scripts/a.ts': '/** In the order of one, rules 1 to 2. */',
    'test/operations/one/b.test.ts': "test.each(rows)('by turns (rule 2)', () => say('scenario 7'))",
  }
  const faultsOf = (changed: Record<string, string | null>) =>
    faultLines(ruleFaults, { ...right, ...changed })

  test('what is cited and named is there', async () => {
    expect(await faultsOf({})).toEqual([])
  })

  test.each<[string, Record<string, string | null>, RegExp]>([
    [
      'a section without a README',
      { 'operations/two/a.ts': '' },
      /^operations\/two\/README.md is not there → write it: .*## Rooms, ## Rules/,
    ],
    [
      'a title of what is not here',
      { 'test/operations/one/b.test.ts': "test('scenario 7: by turns', () => {})" },
      /^test\/operations\/one\/b.test.ts:1 cites "scenario 7", which is not in the repository/,
    ],
    [
      'a title of several tests',
      { 'test/operations/one/b.test.ts': "\ndescribe.each(rows)('by turns (rule 9)', () => {})" },
      /^test\/operations\/one\/b.test.ts:2 cites rule 9, which .* does not have/,
    ],
    ['no README of the runtime', { 'runtime/README.md': null }, /^runtime\/README.md is not there/],
    [
      'a chapter that is missing',
      { 'operations/one/README.md': readme('1. **First.**').replace('## Takes and gives', '## Others') },
      /README.md has no chapter Takes and gives → add ## Takes and gives/,
    ],
    [
      'a room that is not told of',
      { 'operations/one/kept/a.ts': '' },
      /README.md does not tell of the room kept\/ → say in ## Rooms what it holds/,
    ],
    ['a README without rules', { 'operations/one/README.md': readme('None.') }, /has no rule → number them/],
    [
      'a number left out',
      { 'operations/one/README.md': readme('1. **First.**', '3. **Third.**') },
      /has rule 3 where rule 2 is due → count the rules from 1/,
    ],
    [
      'a long README',
      { 'operations/one/README.md': `${readme('1. **First.**', '2. **Second.**')}${'more\n'.repeat(140)}` },
      /has 160 lines, and at most 150 are read → say it shorter/,
    ],
    [
      'a file that is named and gone',
      { 'operations/one/a/b.ts': null, 'operations/one/a/c.ts': '' },
      /README.md names a\/b.ts, which is not there → name what is there/,
    ],
    [
      'a file by its name alone',
      { 'operations/one/README.md': readme('1. **First.** As `gone.ts` says.', '2. **Second.** (a) (b)') },
      /README.md names gone.ts, which is not there/,
    ],
    [
      'a README that cites what is not there',
      { 'operations/one/README.md': readme('1. **First.** See rule\n   3.', '2. **Second.** (a) (b)') },
      /README.md cites rule 3, which operations\/one\/README.md does not have/,
    ],
    [
      'a rule that there is not',
      { 'operations/one/a/b.ts': 'const a = 1\n/** As agreed (rule 3). */' },
      /^operations\/one\/a\/b.ts:2 cites rule 3, which .* does not have → cite a rule that is there/,
    ],
    [
      'a part that there is not',
      { 'operations/one/a/b.ts': 'f(1 /* rule 2c */)' },
      /b.ts:1 cites rule 2c, which operations\/one\/README.md does not have/,
    ],
    [
      'a rule of another section that there is not',
      { 'operations/one/a/b.ts': '// (runtime, rules 1 and 2)' },
      /cites rule 2, which runtime\/README.md does not have/,
    ],
    [
      'a section that there is not',
      { 'operations/one/a/b.ts': '// (three, rule 1)' },
      /cites rule 1 of three, which has no README/,
    ],
    ['a rule of nobody', { 'scripts/a.ts': '// (rule 1)' }, /^scripts\/a.ts:1 cites rule 1 of no section/],
    [
      'a line at the end of a block',
      { 'operations/one/a/b.ts': 'const f = () => {\n  f()\n  // rule 7\n}' },
      /b.ts:3 cites rule 7/,
    ],
    [
      'a broken line',
      { 'operations/one/a/b.ts': '/**\n * What is done (rule\n * 9).\n */' },
      /cites rule 9, which/,
    ],
    ...[
      'the order (conventions §4)',
      'what may be (Rules 9)',
      'what counts (Rules 3 of the page)',
      'how they look (R10)',
      'moderation (scenario 3)',
      "the page's example",
      'as the promotions page says',
    ].map((text): [string, Record<string, string>, RegExp] => [
      `"${text}"`,
      { 'db/a.ts': `/** Thus: ${text}. */` },
      /^db\/a.ts:1 cites ".+", which is not in the repository → say it here, or cite a rule that is there/,
    ]),
  ])('%s is a fault, and its remedy is told', async (_name, changed, expected) => {
    expect((await faultsOf(changed)).join('\n')).toMatch(expected)
  })
})
