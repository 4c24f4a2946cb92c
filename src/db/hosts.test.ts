import { describe, expect, test } from 'vitest'
import { addressProblem, hostsOf } from './hosts.ts'

describe('hostsOf', () => {
  test('one host stays as it is', () => {
    for (const url of [
      'postgresql://user:p%40ss@db.example.org:5433/herald?sslmode=require&application_name=x',
      'postgresql://herald@/?host=%2Frun%2Fpostgresql',
      'postgres://localhost',
    ])
      expect(hostsOf(url)).toEqual([url])
  })

  test('several hosts become one address each, with the same user, database and parameters', () => {
    expect(hostsOf('postgresql://u:a,b@a:5432,b,[::1]:5434/herald?sslmode=require')).toEqual([
      'postgresql://u:a,b@a:5432/herald?sslmode=require',
      'postgresql://u:a,b@b/herald?sslmode=require',
      'postgresql://u:a,b@[::1]:5434/herald?sslmode=require',
    ])
  })

  test('target_session_attrs is left out', () => {
    expect(hostsOf('postgresql://u@a/h?target_session_attrs=primary')).toEqual(['postgresql://u@a/h'])
    expect(hostsOf('postgresql://u@a/h?target_session_attrs=read-write&sslmode=require')).toEqual([
      'postgresql://u@a/h?sslmode=require',
    ])
    expect(hostsOf('postgresql://u@a/h?sslmode=require&target_session_attrs=primary')).toEqual([
      'postgresql://u@a/h?sslmode=require',
    ])
  })
})

test('a problem says what to write instead', () => {
  const good = [
    'postgresql://u@a,b/h?target_session_attrs=read-write',
    'postgresql://u@/h?host=%2Frun',
    'postgresql://a',
  ]
  expect(good.map(addressProblem)).toEqual([null, null, null])
  for (const target of ['any', 'standby', 'read-only', 'prefer-standby'])
    expect(addressProblem(`postgresql://u@a,b/h?target_session_attrs=${target}`)).toBe(
      `has target_session_attrs=${target}, but Herald uses only the primary; remove it, or write target_session_attrs=read-write`,
    )
  expect(addressProblem('postgresql://u@a,,b/h')).toMatch(/empty host/)
  expect(addressProblem('postgresql://u@/h?host=a,b')).toMatch(/before the name of the database/)
  expect(addressProblem('postgresql://u@a,b:x/h')).toMatch(/cannot be read/)
})
