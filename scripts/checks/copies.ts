/** The same function in two sections: one of them will be mended, and the other not. Checked on the files' syntax. */
import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { typescriptFiles } from './imports.ts'
import { reading, sumOf } from './parse.ts'

/** Shorter ones are alike by chance. */
const fewestLines = 6

interface Place {
  section: string
  file: string
  line: number
  name: string
}

/** The faults of every file below operations/ of a project's root. */
export async function sameBodyFaults(root: string): Promise<Fault[]> {
  const places = new Map<string, Place[]>()
  for (const path of await typescriptFiles(join(root, 'operations'))) {
    const file = relative(root, path).split(sep).join('/')
    for (const { words, line, name } of reading('copies', file, readFileSync(path, 'utf8'), bodiesIn)) {
      const place = { section: file.split('/')[1]!, file, line, name }
      places.set(words, [...(places.get(words) ?? []), place])
    }
  }
  return [...places.values()].flatMap((same) => {
    const [first] = same as [Place]
    const other = same.find(({ section }) => section !== first.section)
    if (!other) return []
    return [
      {
        file: `${first.file}:${first.line}`,
        wrong: `does word for word what ${other.name} of ${other.file}:${other.line} does`,
        remedy: "write it once: in runtime/ where it knows no domain, else behind one section's door.ts",
      },
    ]
  })
}

/** Each that is long enough, by a sum of its words. */
function bodiesIn(source: ts.SourceFile): { words: string; line: number; name: string }[] {
  const found: { words: string; line: number; name: string }[] = []
  const visit = (node: ts.Node): void => {
    const body = bodyOf(node)
    if (body && linesOf(source, body) >= fewestLines) {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
      found.push({ words: sumOf(wordsOf(source, body)), line, name: nameOf(node) })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const bodyOf = (node: ts.Node): ts.Node | undefined =>
  ts.isFunctionDeclaration(node) ||
  ts.isFunctionExpression(node) ||
  ts.isArrowFunction(node) ||
  ts.isMethodDeclaration(node)
    ? node.body
    : undefined

const linesOf = (source: ts.SourceFile, body: ts.Node): number =>
  source.getLineAndCharacterOfPosition(body.end).line -
  source.getLineAndCharacterOfPosition(body.getStart(source)).line +
  1

/** The body without comments, and whatever its white space. */
function wordsOf(source: ts.SourceFile, body: ts.Node): string {
  const words: string[] = []
  const visit = (node: ts.Node): void => {
    if (node.getChildCount(source) === 0) words.push(node.getText(source))
    else for (const child of node.getChildren(source)) visit(child)
  }
  visit(body)
  return words.join(' ')
}

function nameOf(node: ts.Node): string {
  const named = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) ? node : node.parent
  const name = (named as { name?: ts.Node }).name
  return name && ts.isIdentifier(name) ? name.text : 'a function'
}
