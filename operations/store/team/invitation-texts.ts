/** What an invitation says: its email, and the page behind its link. */
import { DateTime } from 'luxon'
import { escaped, htmlAnswer } from '#runtime/values/html'
import type { OpenInvitation } from './accept.ts'

/** The email with the link. */
export function invitationMail(given: {
  storeName: string
  inviterName: string
  role: string
  link: string
  expiresAt: Date
  timezone: string
}): { subject: string; text: string; html: string } {
  const { storeName, inviterName, role, link, timezone } = given
  const until = DateTime.fromJSDate(given.expiresAt, { zone: timezone }).toFormat('yyyy-MM-dd HH:mm')
  const invites = `${inviterName} invites you to the team of ${storeName}, as ${role}.`
  const holds = `The link holds until ${until} (${timezone}). If you did not expect it, leave it alone.`
  return {
    subject: `Join the team of ${storeName}`.replace(/[\r\n]+/g, ' '),
    text: `${invites}\n\nAccept here:\n${link}\n\n${holds}\n`,
    html:
      `<p>${escaped(invites)}</p><p><a href="${escaped(link)}">Accept the invitation</a></p>` +
      `<p>${escaped(holds)}</p>`,
  }
}

/** The form; a person who is known already only confirms. */
export function invitationForm(invitation: OpenInvitation): Response {
  const { storeName, inviterName, role, email, knownName } = invitation
  const asked =
    knownName === null
      ? '<label for="name">Your name</label><input id="name" name="name" required maxlength="120" autocomplete="name">'
      : `<p>You are known here as ${escaped(knownName)}.</p>`
  return htmlAnswer(
    `Join the team of ${storeName}`,
    `<p>${escaped(inviterName)} invites ${escaped(email)}, as ${escaped(role)}.</p>` +
      `<form method="post">${asked}<button>Accept the invitation</button></form>`,
  )
}

export const acceptedPage = ({ storeName, email, role }: OpenInvitation): Response =>
  htmlAnswer(
    'Welcome to the team',
    `<p>${escaped(email)} is now ${role === 'member' ? 'a' : 'an'} ${escaped(role)} of ${escaped(storeName)}.</p>`,
  )

export const deadPage = (): Response =>
  htmlAnswer(
    'This invitation is no longer open',
    '<p>It was accepted or revoked, or has expired. Ask for a new one.</p>',
    410,
  )

export const unknownPage = (): Response =>
  htmlAnswer(
    'There is no such invitation',
    '<p>Look whether the link is complete, or ask for a new one.</p>',
    404,
  )
