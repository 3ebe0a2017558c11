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
    const [first, ...others] = await Promise.all(targets.map((target) => ask(target, name, fixture)))
    for (const [index, other] of others.entries()) {
      const pair = `${targets[0]!.name} and ${targets[index + 1]!.name}`
      deepEqual(comparable(name, other), comparable(name, first), `${pair} answer ${name} differently`)
    }
  }
}

async function ask(target: Target, name: OperationName, fixture: Fixture): Promise<unknown> {
  const { method, path, key, body, status } = operations[name]
  const shop = fixture.shops[0]!
  const response = await fetch(`${target.url}${path(shop)}`, {
    method,
    headers: { authorization: `Bearer ${key(shop)}`, 'content-type': 'application/json' },
    ...(body ? { body: body() } : {}),
  })
  const text = await response.text()
  if (response.status !== status) throw new Error(`${target.name}: ${name}: ${response.status} ${text}`)
  return JSON.parse(text)
}

const comparable = (name: OperationName, answer: unknown): unknown =>
  name === 'create' ? Object.keys(answer as object) : answer
