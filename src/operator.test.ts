import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { currentOperator } from './operator.ts'

test('the operator is the system account', () => {
  expect(currentOperator()).toEqual({ kind: 'operator', name: userInfo().username })
})

test('a user id without an account is named by its number', () => {
  const noAccount = () => {
    throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT (no such file or directory)')
  }
  expect(currentOperator(noAccount)).toEqual({ kind: 'operator', name: `uid ${process.getuid?.()}` })
})
