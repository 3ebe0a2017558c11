/** Reads a GraphQL document with one operation: fields, aliases, arguments, variables and inline fragments. */

export type Value =
  | { kind: 'literal'; value: unknown }
  | { kind: 'variable'; name: string }
  | { kind: 'list'; values: Value[] }
  | { kind: 'object'; fields: Record<string, Value> }

export interface Field {
  kind: 'field'
  alias: string
  name: string
  args: Record<string, Value>
  selection: Selection[] | null
}

export interface Fragment {
  kind: 'fragment'
  on: string
  selection: Selection[]
}

export type Selection = Field | Fragment

export interface Operation {
  type: 'query' | 'mutation'
  variables: { name: string; isRequired: boolean }[]
  selection: Selection[]
}

const token = /[\s,]*(?:("(?:[^"\\]|\\.)*")|(\.\.\.)|([!$(){}:=[\]])|([_A-Za-z]\w*)|(-?\d+(?:\.\d+)?))/y

export class GraphSyntaxError extends Error {}

export function parse(document: string): Operation {
  const tokens = tokensOf(document)
  let at = 0
  const peek = (): string | undefined => tokens[at]
  const next = (): string => {
    const text = tokens[at]
    at += 1
    if (text === undefined) throw new GraphSyntaxError('Unexpected end of document')
    return text
  }
  const expect = (text: string): void => {
    const found = next()
    if (found !== text) throw new GraphSyntaxError(`Expected ${text}, found ${found}`)
  }
  const list = <T>(end: string, read: () => T): T[] => {
    const found: T[] = []
    while (peek() !== end) found.push(read())
    next()
    return found
  }

  const value = (): Value => {
    const text = next()
    if (text === '$') return { kind: 'variable', name: next() }
    if (text === '[') return { kind: 'list', values: list(']', value) }
    if (text === '{') {
      const fields = list('}', () => {
        const name = next()
        expect(':')
        return [name, value()] as const
      })
      return { kind: 'object', fields: Object.fromEntries(fields) }
    }
    if (text.startsWith('"')) return { kind: 'literal', value: JSON.parse(text) }
    if (text === 'true' || text === 'false') return { kind: 'literal', value: text === 'true' }
    if (text === 'null') return { kind: 'literal', value: null }
    const number = Number(text)
    return { kind: 'literal', value: Number.isNaN(number) ? text : number }
  }
  const args = (): Record<string, Value> => {
    if (peek() !== '(') return {}
    next()
    const found = list(')', () => {
      const name = next()
      expect(':')
      return [name, value()] as const
    })
    return Object.fromEntries(found)
  }
  const selection = (): Selection[] => {
    expect('{')
    return list('}', (): Selection => {
      if (peek() === '...') {
        next()
        expect('on')
        return { kind: 'fragment', on: next(), selection: selection() }
      }
      const first = next()
      const isAlias = peek() === ':'
      if (isAlias) next()
      const name = isAlias ? next() : first
      const given = args()
      return {
        kind: 'field',
        alias: first,
        name,
        args: given,
        selection: peek() === '{' ? selection() : null,
      }
    })
  }
  const variable = (): Operation['variables'][number] => {
    expect('$')
    const name = next()
    expect(':')
    let isRequired = false
    while (peek() !== undefined && peek() !== '$' && peek() !== ')') isRequired = next() === '!'
    return { name, isRequired }
  }

  const type = next()
  if (type !== 'query' && type !== 'mutation') throw new GraphSyntaxError(`Unexpected ${type}`)
  if (peek() !== '(' && peek() !== '{') next()
  const variables: Operation['variables'] = []
  if (peek() === '(') {
    next()
    variables.push(...list(')', variable))
  }
  const operation: Operation = { type, variables, selection: selection() }
  if (at !== tokens.length) throw new GraphSyntaxError(`Unexpected ${tokens[at]}`)
  return operation
}

function tokensOf(document: string): string[] {
  const tokens: string[] = []
  token.lastIndex = 0
  while (document.slice(token.lastIndex).trim() !== '') {
    const from = token.lastIndex
    const found = token.exec(document)
    if (!found) throw new GraphSyntaxError(`Unexpected ${document.slice(from, from + 10)}`)
    tokens.push(found.slice(1).find((text) => text !== undefined)!)
  }
  return tokens
}
