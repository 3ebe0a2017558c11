/** The syntax of the project's files, for rules that are checked on it. */
import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { typescriptFiles } from './imports.ts'
import { reading } from './parse.ts'

/** A place that may do what is a fault elsewhere, and why. */
export interface Exception {
  file: string
  /** As the rule tells it. */
  wrong: string
  why: string
}

export interface Rule {
  /** Folders of the root that it is about. */
  layers: readonly string[]
  /** Cheap, and true of every file that could have a fault. */
  suspicious: RegExp
  /** Files it is not about. */
  leaves?: (file: string) => boolean
  /** What is wrong with one node, by its file alone, and the remedy. */
  wrongOf: (node: ts.Node) => { wrong: string; remedy: string }[]
  exceptions?: readonly Exception[]
  /** Where the exceptions are listed; no two rules have one list. */
  listedIn: string
}

export async function faultsOf(root: string, rule: Rule): Promise<Fault[]> {
  const faults: Fault[] = []
  const exceptions = rule.exceptions ?? []
  const used = new Set<Exception>()
  for (const layer of rule.layers) {
    for (const path of await typescriptFiles(join(root, layer))) {
      const file = relative(root, path).split(sep).join('/')
      if (rule.leaves?.(file)) continue
      const code = readFileSync(path, 'utf8')
      if (!rule.suspicious.test(code)) continue
      for (const { line, wrong, remedy } of wrongsIn(rule, file, code)) {
        const exception = exceptions.find((each) => each.file === file && each.wrong === wrong)
        if (exception) used.add(exception)
        else faults.push({ file: `${file}:${line}`, wrong, remedy })
      }
    }
  }
  for (const exception of exceptions.filter((each) => !used.has(each))) {
    faults.push({
      file: exception.file,
      wrong: `no longer does this: ${exception.wrong}`,
      remedy: `take it off the list of ${rule.listedIn}`,
    })
  }
  return faults
}

const wrongsIn = (rule: Rule, file: string, code: string) =>
  reading(rule.listedIn, file, code, (source) => {
    const found: { line: number; wrong: string; remedy: string }[] = []
    const visit = (node: ts.Node): void => {
      for (const each of rule.wrongOf(node)) {
        const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
        found.push({ line, ...each })
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
    return found
  })

/** Whether a node is text: of a literal, or of a part of a template. */
export const isText = (
  node: ts.Node,
): node is ts.StringLiteralLike | ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail =>
  ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)

/** What is called, of `a.b(…)` and `b(…)`: `b`. */
export function calledOf(node: ts.Node): string | null {
  if (!ts.isCallExpression(node)) return null
  const { expression } = node
  if (ts.isIdentifier(expression)) return expression.text
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : null
}
