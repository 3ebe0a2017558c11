/** People are compared by their keys, and by nothing else: the rule, checked on the files' syntax. */
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { calledOf, type Exception, faultsOf, isText } from './source.ts'

const wrong = 'compares people by how they are spelled'
const phones = 'compare phone_key with phoneKey(…), or search with phoneLike(…): a number has many spellings'
const emails = 'compare emailKeyOf(column) with emailKey(…) of #runtime/email: an address has many spellings'

const unread = 'judges an address, and may keep it as it was typed'
const reading = 'take readEmail(…) of #runtime/schema, and keep what it answers'

type Kind = 'phone' | 'email'
const remedyOf = (kind: Kind): string => (kind === 'phone' ? phones : emails)

/** Columns of their own meaning, and tables that hold the key already. */
const allowed: readonly Exception[] = [
  { file: 'operations/capture/subscribers/unsubscribes.ts', wrong, why: 'email_unsubscribes holds keys' },
  { file: 'operations/store/conversions/last-touch.ts', wrong, why: 'attribution_touches holds keys' },
  {
    file: 'operations/campaigns/imports/entries.ts',
    wrong,
    why: 'it asks whether a row has to be written: another spelling is',
  },
  {
    file: 'operations/inbox/conversations/contacts.ts',
    wrong,
    why: 'found by its key; another spelling is kept',
  },
  {
    file: 'operations/messaging/provider/sandbox.ts',
    wrong,
    why: 'what was sent to a number as it was dialled',
  },
]

/** Where the keys are made. */
const places: readonly string[] = ['runtime/values/email.ts', 'runtime/values/phone.ts']

export const identityFaults = (root: string, exceptions = allowed): Promise<Fault[]> =>
  faultsOf(root, {
    layers: ['db', 'runtime', 'operations'],
    suspicious: /phone|email/i,
    leaves: (file) => places.includes(file) || file.startsWith('db/migrations/'),
    exceptions,
    listedIn: 'scripts/checks/identity.ts',
    wrongOf: (node) => [
      ...[...new Set(kindsOf(node))].map((kind) => ({ wrong, remedy: remedyOf(kind) })),
      ...(isLeftUnread(node) ? [{ wrong: unread, remedy: reading }] : []),
    ],
  })

function* kindsOf(node: ts.Node): Generator<Kind> {
  if (ts.isCallExpression(node)) {
    yield* inQuery(node)
    const kind = calledOf(node) === 'toLowerCase' ? kindOfText(node.expression.getText()) : null
    if (kind === 'email') yield kind
  }
  if (ts.isBinaryExpression(node)) yield* inComparison(node)
  if (ts.isTemplateExpression(node)) {
    yield* inSql(node.head.text + node.templateSpans.map(({ literal }) => `\${}${literal.text}`).join(''))
  } else if (isText(node) && !ts.isTemplateHead(node) && !ts.isTemplateMiddleOrTemplateTail(node)) {
    yield* inSql(node.text)
  }
}

/** `email.safeParse(…)`: whoever asks whether it is one has to keep what it was read as. */
const isLeftUnread = (node: ts.Node): boolean =>
  ts.isCallExpression(node) &&
  /(?:^|\.)(?:email|emailSchema)\.(?:safeParse|parse)$/.test(node.expression.getText()) &&
  node.getSourceFile().fileName !== 'runtime/schema.ts'

const columnForm = /^(?:\w+\.)?(?:\w+_)?(?<kind>phone|email)$/
const flag = /(?:^|[._])consent_(?:phone|email)$/
const columnKind = (node: ts.Node | undefined): Kind | null => {
  if (!node || !ts.isStringLiteralLike(node) || flag.test(node.text)) return null
  return (columnForm.exec(node.text)?.groups?.kind as Kind | undefined) ?? null
}

const conditions = ['where', 'whereRef', 'on', 'onRef', 'eb', 'having', 'orWhere']
const operators = ['=', '==', '<>', '!=', 'in', 'not in', 'is distinct from', 'is not distinct from']
/** What makes rows of one column the same. */
const merging = ['groupBy', 'distinctOn', 'columns', 'column']

/** A column that is compared with something, or by which rows are made one. */
function* inQuery(node: ts.CallExpression): Generator<Kind> {
  const called = calledOf(node)
  const [column, operator, value] = node.arguments
  if (called === null || !column) return
  if (conditions.includes(called)) {
    const kind = columnKind(column)
    const isState = value !== undefined && ts.isStringLiteralLike(value) && columnKind(value) === null
    if (
      kind &&
      operator &&
      ts.isStringLiteralLike(operator) &&
      operators.includes(operator.text) &&
      !isState
    ) {
      yield kind
    }
  }
  const isOfConflict = /conflict/i.test(node.expression.getText())
  if (called === 'groupBy' || called === 'distinctOn' || (merging.includes(called) && isOfConflict)) {
    const columns = ts.isArrayLiteralExpression(column) ? [...column.elements] : [column]
    for (const each of columns) {
      const kind = columnKind(each)
      if (kind) yield kind
    }
  }
}

const name = /(?:^|[^a-z])(?<small>phone|email)$|[a-z](?<large>Phone|Email)$/
const kindOfText = (text: string): Kind | null => {
  const inner = text.replace(/\??\.(?:toLowerCase|trim|normalize)(?:\(\))?/g, '')
  const found = name.exec(inner)?.groups
  return found ? ((found.small ?? found.large)!.toLowerCase() as Kind) : null
}

const equalities = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
])

/** Two that are named as phones or emails: one with a constant is none of somebody. */
function* inComparison({ left, operatorToken, right }: ts.BinaryExpression): Generator<Kind> {
  if (!equalities.has(operatorToken.kind) || !isNamed(left) || !isNamed(right)) return
  const kinds = [left, right].map((side) => kindOfText(side.getText()))
  if (kinds[0] && kinds[0] === kinds[1]) yield kinds[0]
}
const isNamed = (node: ts.Expression): boolean =>
  ts.isIdentifier(node) || ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)

const sqlColumn = '(?<![\\w.])(?:\\w+\\.)?(?!consent_)(?:\\w+_)?'
const rules: readonly [RegExp, Kind][] = [
  [
    new RegExp(
      `${sqlColumn}phone\\s*(?:=|<>|!=|is (?:not )?distinct from)\\s*(?:\\$\\{|any\\s*\\(|\\$\\d)`,
      'i',
    ),
    'phone',
  ],
  [new RegExp(`${sqlColumn}phone\\s+(?:i?like|in)\\s*(?:\\$\\{|any\\s*\\(|\\(|\\$\\d)`, 'i'), 'phone'],
  [new RegExp(`${sqlColumn}phone\\s*(?:=|<>|!=)\\s*(?:\\w+\\.)(?:\\w+_)?phone\\b`, 'i'), 'phone'],
  [
    new RegExp(
      `${sqlColumn}email\\s*(?:=|<>|!=|is (?:not )?distinct from)\\s*(?:\\$\\{|any\\s*\\(|\\$\\d)`,
      'i',
    ),
    'email',
  ],
  [new RegExp(`${sqlColumn}email\\s+in\\s*(?:\\$\\{|\\()`, 'i'), 'email'],
  [new RegExp(`${sqlColumn}email\\s*(?:=|<>|!=)\\s*(?:\\w+\\.)(?:\\w+_)?email\\b`, 'i'), 'email'],
  [/\blower\(\s*(?:\w+\.)?(?:\w+_)?email\s*\)(?!\s*(?:like|gin_trgm_ops))/i, 'email'],
  [/\b(?:group|partition) by (?:[\w., ]+[ ,.])?(?:\w+_)?email\b/i, 'email'],
  [/\b(?:group|partition) by (?:[\w., ]+[ ,.])?(?:\w+_)?phone\b/i, 'phone'],
]
function* inSql(text: string): Generator<Kind> {
  if (!/phone|email/i.test(text)) return
  for (const [rule, kind] of rules) if (rule.test(text)) yield kind
}
