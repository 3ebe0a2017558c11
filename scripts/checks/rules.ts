/** The rules that stand with the code: READMEs of the sections and the runtime, comments and titles of tests that cite them. */
import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { typescriptFiles } from './imports.ts'
import { reading } from './parse.ts'

const layers = ['operations', 'runtime', 'db', 'scripts', 'test'] as const
const headings = ['Rooms', 'Rules', 'Takes and gives', 'Where to begin']
const mostLines = 150

interface Readme {
  /** Where it stands: `operations/inbox`. */
  folder: string
  text: string
  /** By their headings. */
  chapters: ReadonlyMap<string, string>
  rules: readonly Rule[]
}

interface Rule {
  number: number
  /** `(a)`, `(b)`… */
  parts: ReadonlySet<string>
}

/** By the name that comments cite them by: a section's, or `runtime`. */
type Readmes = ReadonlyMap<string, Readme>

/** The faults of the READMEs, the comments and the titles of tests below a project's root. */
export async function ruleFaults(root: string): Promise<Fault[]> {
  const faults: Fault[] = []
  const readmes = new Map<string, Readme>()
  for (const [name, folder] of await foldersOf(root)) {
    const file = `${folder}/README.md`
    if (existsSync(join(root, file))) {
      readmes.set(name, readmeOf(folder, readFileSync(join(root, file), 'utf8')))
    } else {
      const chapters = headings.map((each) => `## ${each}`).join(', ')
      faults.push({ file, wrong: 'is not there', remedy: `write it: what it is for, ${chapters}` })
    }
  }
  for (const [name, readme] of readmes) faults.push(...(await readmeFaults(root, name, readme, readmes)))
  for (const layer of layers.filter((each) => existsSync(join(root, each)))) {
    for (const path of await typescriptFiles(join(root, layer))) {
      const file = relative(root, path).split(sep).join('/')
      const code = readFileSync(path, 'utf8')
      if (suspicious.test(code)) faults.push(...citationFaults(file, code, readmes))
    }
  }
  return faults
}

async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

async function foldersOf(root: string): Promise<[name: string, folder: string][]> {
  const sections = await foldersIn(join(root, 'operations'))
  return [...sections.map((name): [string, string] => [name, `operations/${name}`]), ['runtime', 'runtime']]
}

function readmeOf(folder: string, text: string): Readme {
  const [, ...parts] = text.split(/^## (.+)$/m)
  const chapters = new Map(pairsOf(parts))
  const [, ...rules] = (chapters.get('Rules') ?? '').split(/^(\d+)\. /m)
  return {
    folder,
    text,
    chapters,
    rules: pairsOf(rules).map(([number, rule]) => ({
      number: Number(number),
      parts: new Set([...rule.matchAll(/\(([a-z])\)/g)].map(([, letter]) => letter!)),
    })),
  }
}

const pairsOf = (parts: readonly string[]): [string, string][] =>
  parts.flatMap((head, i) => (i % 2 === 0 ? [[head.trim(), parts[i + 1]!] as [string, string]] : []))

async function readmeFaults(root: string, name: string, readme: Readme, readmes: Readmes): Promise<Fault[]> {
  const { folder, text, chapters, rules } = readme
  const faults: Fault[] = []
  const note = (wrong: string, remedy: string): void => {
    faults.push({ file: `${folder}/README.md`, wrong, remedy })
  }
  const lines = text.trimEnd().split('\n').length
  if (lines > mostLines) note(`has ${lines} lines, and at most ${mostLines} are read`, 'say it shorter')
  for (const heading of name === 'runtime' ? ['Rules'] : headings) {
    if (!chapters.has(heading)) note(`has no chapter ${heading}`, `add ## ${heading}`)
  }
  const rooms = chapters.get('Rooms')
  for (const room of rooms === undefined ? [] : await foldersIn(join(root, folder))) {
    if (!rooms!.includes(`${room}/`))
      note(`does not tell of the room ${room}/`, 'say in ## Rooms what it holds')
  }
  if (chapters.has('Rules') && rules.length === 0) note('has no rule', 'number them: 1. **Short name.** …')
  const odd = rules.findIndex(({ number }, i) => number !== i + 1)
  if (odd >= 0) note(`has rule ${rules[odd]!.number} where rule ${odd + 1} is due`, 'count the rules from 1')
  for (const wrong of misCited(text.replace(/\s+/g, ' '), name, readmes)) note(wrong, citeWhatIsThere)
  const below = new Set((await typescriptFiles(join(root, folder))).map((path) => basename(path)))
  const isThere = (path: string): boolean =>
    existsSync(join(root, folder, path)) || existsSync(join(root, path))
  for (const path of pathsIn(text)) {
    const isFile = /\.\w+$|\/$/.test(path)
    if (isThere(path) || below.has(path) || !(isFile || isThere(path.split('/')[0]!))) continue
    note(`names ${path}, which is not there`, 'name what is there, by its path from the root or from here')
  }
  return faults
}

/** What is written as code or linked to, and reads like a file or a folder. */
function pathsIn(text: string): Set<string> {
  const written = [...text.matchAll(/`([^`\s]+)`|\]\(([^)\s#]+)[^)]*\)/g)]
  const isPath = /^[\w.][\w.-]*(?:\/[\w.-]+)*\/?$/
  return new Set(
    written
      .map(([, code, link]) => code ?? link!)
      .filter((each) => isPath.test(each) && (each.includes('/') || each.endsWith('.ts'))),
  )
}

const citeWhatIsThere =
  'cite a rule that is there: (rule 3) of its own section, (messaging, rule 3), (runtime, rule 3)'

/** Ways of citing what is not in the repository. */
const notHere = [
  /§\s*\d*/,
  /\bRules? of the page\b|\bRules \d+\w?/,
  /\bR\d{1,2}\b(?! *=)/,
  /\b(?:scenarios?|acceptance) \d+/i,
  /\bpage['’`]s (?:own )?(?:rules?|example|scenarios?)\b/,
  /\bas the (?:\w+ )?page (?:says|has)\b/,
]
/** Cheap, and true of every file whose comments could have a fault. */
const suspicious =
  /\brules?[\s*/]+(?:\d|of the)|§|\bR\d|(?:scenarios?|acceptance)[\s*/]+\d|page['’`]s|page (?:says|has)/i

function citationFaults(file: string, code: string, readmes: Readmes): Fault[] {
  const [, section, runtime] = /^(?:test\/)?(?:operations\/([^/]+)|(runtime))\//.exec(file) ?? []
  return citingOf(file, code).flatMap(({ line, text }) => {
    const fault = (wrong: string, remedy: string): Fault => ({ file: `${file}:${line}`, wrong, remedy })
    return [
      ...notHere.flatMap((pattern) => {
        const [cited] = pattern.exec(text) ?? []
        if (cited === undefined) return []
        return [
          fault(`cites "${cited}", which is not in the repository`, `say it here, or ${citeWhatIsThere}`),
        ]
      }),
      ...misCited(text, section ?? runtime ?? null, readmes).map((wrong) => fault(wrong, citeWhatIsThere)),
    ]
  })
}

const citation =
  /(?:([(;]) ?)?(?:\b([a-z][a-z-]*), )?\brules? (\d+[a-z]?\b(?:(?:, and |, | and | or | to )\d+[a-z]?\b)*)/g

/** What is wrong with the rules that a text cites. `own`: the section that it stands in, or null. */
function misCited(text: string, own: string | null, readmes: Readmes): string[] {
  return [...text.matchAll(citation)].flatMap(([, bracket, word, numbers]) => {
    const isName = word !== undefined && (bracket !== undefined || readmes.has(word))
    const name = isName ? word : own
    if (name === null) return [`cites rule ${numbers} of no section`]
    const readme = readmes.get(name)
    if (!readme) return [`cites rule ${numbers} of ${name}, which has no README`]
    return [...numbers!.matchAll(/(\d+)([a-z]?)/g)].flatMap(([cited, number, part]) => {
      const rule = readme.rules.find((each) => each.number === Number(number))
      if (rule && (part === '' || rule.parts.has(part!))) return []
      return [`cites rule ${cited}, which ${readme.folder}/README.md does not have`]
    })
  })
}

/** The end of a file has its last comment for a part. */
const isDoc = ({ kind }: ts.Node): boolean =>
  kind >= ts.SyntaxKind.FirstJSDocNode && kind <= ts.SyntaxKind.LastJSDocNode

interface Citing {
  line: number
  text: string
}

/** Whether a text is the title of a test or of several: the first argument of `test(…)`, `describe.each(…)(…)`. */
function isTitle(node: ts.Node): node is ts.StringLiteralLike {
  if (!ts.isStringLiteralLike(node) || !ts.isCallExpression(node.parent)) return false
  if (node.parent.arguments[0] !== node) return false
  let called: ts.Expression = node.parent.expression
  while (ts.isCallExpression(called) || ts.isPropertyAccessExpression(called)) called = called.expression
  return ts.isIdentifier(called) && ['describe', 'test'].includes(called.text)
}

/** The comments of a file, by its syntax (lines that follow each other are one), and the titles of its tests. */
const citingOf = (file: string, code: string): Citing[] =>
  reading('rules', file, code, (source) => citingIn(source, code))

function citingIn(source: ts.SourceFile, code: string): Citing[] {
  const lineAt = (pos: number): number => source.getLineAndCharacterOfPosition(pos).line + 1
  const ranges = new Map<number, number>()
  const titles: Citing[] = []
  const visit = (node: ts.Node): void => {
    if (isTitle(node)) titles.push({ line: lineAt(node.getStart(source)), text: node.text })
    const parts = node.getChildren(source).filter((part) => !isDoc(part))
    for (const part of parts) visit(part)
    if (parts.length > 0) return
    const before = ts.getLeadingCommentRanges(code, node.getFullStart()) ?? []
    const after = ts.getTrailingCommentRanges(code, node.getEnd()) ?? []
    for (const { pos, end } of [...before, ...after]) ranges.set(pos, end)
  }
  visit(source)
  const comments: (Citing & { end: number })[] = []
  for (const [pos, end] of [...ranges].sort(([a], [b]) => a - b)) {
    const text = code
      .slice(pos, end)
      .replace(/^\/[/*]+|\*\/$/g, '')
      .replace(/\s*\n\s*\*?\s*/g, ' ')
    const last = comments.at(-1)
    if (last && code.startsWith('//', pos) && /^\s*$/.test(code.slice(last.end, pos))) {
      last.text += text
      last.end = end
    } else comments.push({ line: lineAt(pos), text, end })
  }
  return [...comments, ...titles]
}
