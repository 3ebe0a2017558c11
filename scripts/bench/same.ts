/** That the servers compared do the same work: their answers hold the same, before anything is measured. */
import { deepEqual } from 'node:assert/strict'
import type { Target } from './child.ts'
import type { Fixture, OperationName } from './kinds.ts'
import { operations } from './operations.ts'

/** Throws where a server's answer differs from the first one's. A create differs in what it is given: its fields count. */
export async function checkSameAnswers(
  targets: readonly Target[],
  names: readonly OperationName[],
  fixture: Fixture,
): Promise<void> {
  for (const name of names) {
    // Needs a store whose limit is used up, which is one of the measurements'.
    if (name === 'limited') continue
    const answers: unknown[] = []
    // One after the other: they write to the same rows.
    for (const target of targets) answers.push(await ask(target, name, fixture))
    const [first, ...others] = answers
    for (const [index, other] of others.entries()) {
      const pair = `${targets[0]!.name} and ${targets[index + 1]!.name}`
      deepEqual(comparable(name, other), comparable(name, first), `${pair} answer ${name} differently`)
    }
  }
}

async function ask(target: Target, name: OperationName, fixture: Fixture): Promise<unknown> {
  const { method, path, key, body, status, tag, isOnce } = operations[name]
  const shop = fixture.shops[0]!
  const authorization = `Bearer ${key(shop, 0)}`
  const url = `${target.url}${path(shop)}`
  const before = tag ? await fetch(url, { headers: { authorization } }) : null
  const response = await fetch(url, {
    method,
    headers: {
      authorization,
      'content-type': 'application/json',
      ...(before ? { [tag!]: before.headers.get('etag') ?? '"none"' } : {}),
      ...(isOnce ? { 'idempotency-key': target.name } : {}),
    },
    ...(body ? { body: body() } : {}),
  })
  const text = await response.text()
  if (response.status !== status) throw new Error(`${target.name}: ${name}: ${response.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

/** Of a refusal its code: what it says besides is each server's own. */
function comparable(name: OperationName, answer: unknown): unknown {
  if (operations[name].isNew) return Object.keys(answer as object)
  const { error } = (answer ?? {}) as { error?: { code: string } }
  return error ? error.code : answer
}
