/**
 * The suite runs on the embedded database first, and on a server after that. What never asks the database that it is given,
 * such as a document, a program's words or the embedded database itself, is the same there: once is enough.
 */
export const hasRunBefore = process.env.TEST_DATABASE_URL !== undefined
