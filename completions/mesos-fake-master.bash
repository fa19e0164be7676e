_mesos_fake_master_completion() {
    local IFS=$'
'
    COMPREPLY=( $( env COMP_WORDS="${COMP_WORDS[*]}" \
                   COMP_CWORD=$COMP_CWORD \
                   _MESOS_FAKE_MASTER_COMPLETE=complete_bash $1 ) )
    return 0
}

complete -o default -F _mesos_fake_master_completion mesos-fake-master
