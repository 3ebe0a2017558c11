/** Parses the body, the query and the path parameters with the operation's schemas. */

import { refuseFractions } from '#runtime/amounts'
import { refuse } from '#runtime/errors'
import { bodyAtMost } from '#runtime/http/body'
import { truncate } from '#runtime/values/truncate'
import type { Call } from '../call.ts'
import { parseInput, parseJson, parseQuery, readBodyAs, readParameters } from '../input.ts'

export function readBody(call: Call): Promise<void> | void {
  if (call.request.method === 'GET' || call.request.method === 'HEAD') return
  return call.request.readBody(bodyAtMost).then((text) => {
    call.text = text
  })
}

export function readInput(call: Call): void {
  const operation = call.operation!
  const { spec } = operation
  if (operation.parameters.length > 0) call.params = readParameters(`/v1${spec.path}`, call.request.path)
  const query = parseQuery(call.request.search)
  const currency = call.access?.store.currency
  if (spec.input?.query) {
    call.query = parseInput(spec.input.query, query, 'query')
    if (currency) refuseFractions(spec.input.query, call.query, currency)
  } else refuseFields(query, 'takes no query parameters')
  if (spec.input?.body) {
    // Clients may send back what they read at an earlier address of this server.
    call.body = readBodyAs(spec.input.body, call.gateway.services.database.fileAddresses.toCurrent(call.text))
    if (currency) refuseFractions(spec.input.body, call.body, currency)
  } else if (call.text !== '') {
    const body = parseJson(call.text)
    if (body === undefined) return
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw refuse('bad_request', 'body: must be an object')
    }
    refuseFields(body, 'takes no body')
  }
}

function refuseFields(fields: object, why: string): void {
  const names = Object.keys(fields).slice(0, 5)
  if (names.length === 0) return
  throw refuse(
    'bad_request',
    names.map((name) => `${truncate(name, 100)}: is not a known field (it ${why})`).join('; '),
  )
}
