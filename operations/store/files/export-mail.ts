import { DateTime } from 'luxon'

/** Builds the email of an export, for the attached file or with a link that is valid until `expiresAt`. */
export function buildExportMail(given: {
  /** Title of the export, such as `Opt-outs`. */
  title: string
  storeName: string
  rows: number
  link: string | null
  expiresAt: Date
  timezone: string
}): { subject: string; text: string; html: string } {
  const { title, storeName, rows, link, timezone } = given
  const until = DateTime.fromJSDate(given.expiresAt, { zone: timezone }).toFormat('yyyy-MM-dd HH:mm')
  const subject = `${title} of ${storeName}`.replace(/[\r\n]+/g, ' ')
  const counted = `${rows} ${rows === 1 ? 'row' : 'rows'}`
  const where = link
    ? `The file (${counted}) is too large for an email. Download it until ${until} (${timezone}):`
    : `The file is attached (${counted}).`
  return {
    subject,
    text: link ? `${where}\n\n${link}\n` : `${where}\n`,
    html: `<p>${escaped(where)}</p>${link ? `<p><a href="${escaped(link)}">Download ${escaped(title)}</a></p>` : ''}`,
  }
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
