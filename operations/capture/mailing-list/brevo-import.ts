/**
 * Imports many contacts by one request. Brevo imports in the background, and writes the contacts that it left out to
 * reports: the caller sends these one by one, which tells why.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { FetchFailed, fetchPublic } from '#runtime/http/public-fetch'
import { Unavailable } from '#runtime/ports/errors'
import { emailKey } from '#runtime/values/email'
import type { BrevoRequest } from './brevo-http.ts'
import type { ListHttpOptions } from './http.ts'
import type { MailingListPerson } from './port.ts'

export interface ImportOptions extends ListHttpOptions {
  /** Reads a report, which needs no key. Default: from public https addresses only. */
  fetchReport?: (address: string) => Promise<string>
}

interface Process {
  status?: string
  info?: { import?: Record<string, string | null> } | null
}

const pauseAtMostMs = 5_000
const reportWithinMs = 20_000
const reportBytesAtMost = 5 * 1024 * 1024

/** Imports the contacts and returns a predicate for the people whom a report names. */
export async function importContacts(
  ask: (request: BrevoRequest) => Promise<unknown>,
  options: ImportOptions,
  body: { jsonBody: { email: string; attributes: object }[]; listIds: number[]; consentGroupIds?: number[] },
): Promise<(person: MailingListPerson) => boolean> {
  const { processId } = (await ask({
    method: 'POST',
    path: '/contacts/import',
    body: {
      ...body,
      updateExistingContacts: true,
      emptyContactsAttributes: false,
      disableNotification: true,
    },
  })) as { processId: number }
  const { info } = await waitForProcess(ask, options, processId)
  const read = options.fetchReport ?? fetchReport
  const reports = Object.values(info?.import ?? {}).filter((address) => typeof address === 'string')
  const text = (await Promise.all(reports.map(read))).join('\n').toLowerCase()
  return ({ email, phone }) =>
    text !== '' && (text.includes(emailKey(email)) || (phone !== null && text.includes(phone.slice(1))))
}

async function waitForProcess(
  ask: (request: BrevoRequest) => Promise<unknown>,
  { retryDelayMs, timeoutMs }: ImportOptions,
  id: number,
): Promise<Process> {
  for (let attempt = 0, waitedMs = 0; ; attempt += 1) {
    const process = (await ask({ method: 'GET', path: `/processes/${id}` })) as Process
    if (process.status === 'completed') return process
    if (process.status === 'failed' || process.status === 'cancelled') {
      throw new Unavailable('unknown', `The import at the email provider was ${process.status}`)
    }
    if (waitedMs >= timeoutMs) {
      throw new Unavailable('unknown', 'The email provider has not finished the import')
    }
    const pauseMs = Math.min(retryDelayMs * 2 ** attempt, pauseAtMostMs)
    await wait(pauseMs)
    waitedMs += pauseMs
  }
}

async function fetchReport(address: string): Promise<string> {
  try {
    const { bytes } = await fetchPublic(address, {
      ...{ accept: 'text/csv, */*', withinMs: reportWithinMs, bytesAtMost: reportBytesAtMost },
      ...{ redirectsAtMost: 2, checkType: () => {} },
    })
    return bytes.toString('utf8')
  } catch (cause) {
    if (!(cause instanceof FetchFailed)) throw cause
    throw new Unavailable(
      'unknown',
      `A report of the email provider's import cannot be read: ${cause.message}`,
      {
        cause,
      },
    )
  }
}
