/** Finds banned words and sentence openings in comments, test titles and declared names (docs/glossary.md). */
import { basename } from 'node:path'
import type { Issue } from '#runtime/registry/checks'
import { codeFiles, readCode } from './files.ts'

/** Sentence openings that stand for a noun: name the noun, or begin with "If" or "When". */
const bannedOpenings =
  /^(?:Of|Where|Who|Whom|Whose|Whoever|What|Whatever|Wherever|To whom|By which|In which)\b(?!.*\?$)/
/** Literary words, and phrases with a standard term. */
const bannedPhrases =
  /\b(?:anew|hasten(?:s|ed)?|reckon(?:s|ed)?|amid|beside|thereof|whoever|whosoever|wherefore|goes by|go by|is told|are told|tells of|tell of|hears of|hear of|is heard|are heard|whose turn|wait for each other|waits for each other)\b/i
/** Words in names that have a standard term. */
const bannedInNames = new Set(
  'anew door fate gathered heard hears letters mendable sought standing surroundings told wall wired wiring'.split(
    ' ',
  ),
)
/** A standard term with a banned word in it. */
const allowedInNames = /wall-?clock/gi
/** The test of this check, which is skipped: its fixtures break the rules. */
const ownTest = 'test/scripts/checks/wording.test.ts'

const declared = /\b(?:const|let|function\*?|class|interface|type)\s+([A-Za-z_$][\w$]*)/g
const title = /^\s*(?:test|describe)(?:\.\w+(?:\([^)]*\))?)*\(\s*(['"`])(.*?)\1/gm

export interface WordingIssue {
  line: number
  text: string
  why: string
}

export async function findWordingIssues(root: string): Promise<Issue[]> {
  const issues: Issue[] = []
  for (const folder of ['db', 'runtime', 'operations', 'scripts', 'test']) {
    for (const file of await codeFiles(root, folder)) {
      if (file === ownTest) continue
      for (const { line, text, why } of checkWording(file, readCode(root, file))) {
        issues.push({
          file: `${file}:${line}`,
          wrong: `${why}: ${text}`,
          remedy: 'write it as docs/glossary.md says',
        })
      }
    }
  }
  return issues
}

export function checkWording(file: string, code: string): WordingIssue[] {
  const lineAt = (at: number): number => code.slice(0, at).split('\n').length
  const issues: WordingIssue[] = []
  for (const { line, text } of sentencesIn(code)) {
    const opening = bannedOpenings.exec(text)?.[0]
    const phrase = bannedPhrases.exec(text)?.[0]
    if (opening) issues.push({ line, text, why: `a sentence begins with "${opening}"` })
    else if (phrase) issues.push({ line, text, why: `"${phrase}"` })
  }
  for (const match of code.matchAll(title)) {
    const text = match[2]!
    const opening = /^(?:of|where|who|whose|whoever|what) /.exec(text)?.[0]
    if (opening)
      issues.push({ line: lineAt(match.index), text, why: `a test's title begins with "${opening.trim()}"` })
  }
  const names = [...code.matchAll(declared)].map((match) => [match[1]!, lineAt(match.index)] as const)
  for (const [name, line] of [[basename(file).split('.')[0]!, 1] as const, ...names]) {
    const word = name
      .replace(allowedInNames, '')
      .split(/[-_$]|(?<=[a-z\d])(?=[A-Z])/)
      .map((part) => part.toLowerCase())
      .find((part) => bannedInNames.has(part))
    if (word) issues.push({ line, text: name, why: `"${word}" in a name` })
  }
  return issues
}

/** Sentences of all comments, joined over lines, each with the line on which its comment begins. */
function sentencesIn(code: string): { line: number; text: string }[] {
  const comments: { line: number; text: string }[] = []
  let open: { line: number; text: string } | null = null
  let isBlock = false
  for (const [index, raw] of code.split('\n').entries()) {
    const text = raw.trim()
    const isContinued = open !== null && (isBlock ? true : text.startsWith('//'))
    if (!isContinued) {
      open = null
      const start = /^(\/\*\*?|\/\/)(?!\s*(?:biome-ignore|@|#))/.exec(text)?.[0]
      const trailing = start ? null : /(?<=[;,{}()[\]'\w] )\/\/ (.*)$/.exec(raw)?.[1]
      if (trailing && !/https?:$/.test(raw.slice(0, raw.indexOf('//'))))
        comments.push({ line: index + 1, text: trailing })
      if (!start) continue
      isBlock = start !== '//'
      open = { line: index + 1, text: '' }
      comments.push(open)
    }
    open!.text += ` ${text.replace(/^(?:\/\*\*?|\/\/|\*(?!\/))\s?/, '').replace(/\*\/\s*$/, '')}`
    if (isBlock && text.includes('*/')) open = null
  }
  return comments.flatMap(({ line, text }) =>
    text
      .replace(/\s+/g, ' ')
      .trim()
      .split(/(?<=[.!?:])\s+(?=[A-Z`])/)
      .filter((sentence) => sentence !== '')
      .map((sentence) => ({ line, text: sentence })),
  )
}
